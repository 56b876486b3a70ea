import { Code, ConnectError } from '@connectrpc/connect';
import { type Static, Type } from 'typebox';
import { ApiKeyService } from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { API_KEY_SCOPES } from '../../../services/platform/api-key-scopes.ts';
import { pageParameter } from '../shell/components.ts';
import { Failure } from '../shell/failures.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { inEach } from '../shell/language.ts';
import { API_KEYS_PATH, apiKeysPage, OVERLAPS_S } from './api-keys.page.ts';
import { apiKeysTexts } from './api-keys.texts.ts';
import { keyAnswerPage } from './key-answer.page.ts';
import { expiryAt, type KeyFault, SCOPE_NAMES } from './key-form.ts';

const SPEC = { section: 'api-keys' } as const;
const ACTION = { ...SPEC, refusals: apiKeysTexts };
const { listApiKeys, issueApiKey, rotateApiKey, revokeApiKey } = ApiKeyService.method;
const expires = Type.Optional(Type.String({ maxLength: 10 }));

/** API keys: developers issue, rotate and revoke them. */
export function apiKeysPages(dependencies: FeatureDependencies): void {
  const { pages, clients } = dependencies;
  const query = Type.Object({ page: pageParameter });
  pages.page({ ...SPEC, rpc: listApiKeys, path: API_KEYS_PATH, query }, (view, input) =>
    apiKeysPage(clients, view, input.query),
  );
  issueAction(dependencies);
  rotateAction(dependencies);
  revokeAction(dependencies);
}

const ISSUE_FORM = Type.Object({
  name: Type.String({ maxLength: 500 }),
  scopes: Type.Optional(Type.Array(Type.Enum(SCOPE_NAMES), { maxItems: SCOPE_NAMES.length })),
  expires,
});

function issueAction({ pages, clients }: FeatureDependencies): void {
  const options = { ...ACTION, rpc: issueApiKey, path: `${API_KEYS_PATH}/issue`, form: ISSUE_FORM };
  pages.action(options, async (view, input) => {
    const typed = typedKey(input.form);
    const reject = (...faults: KeyFault[]) => apiKeysPage(clients, view, {}, { ...typed, faults });
    const expiresAt = expiryAt(typed.expires);
    const faults: KeyFault[] = [];
    if (typed.name === '') faults.push('name');
    if (typed.scopes.length === 0) faults.push('scopes');
    if (typeof expiresAt === 'string') return reject(...faults, expiresAt);
    if (faults.length > 0) return reject(...faults);
    const scopes = typed.scopes.map((scope) => API_KEY_SCOPES[scope]);
    const key = { name: typed.name, scopes, ...(expiresAt && { expiresAt }) };
    try {
      const request = { ...view.tenant, idempotencyKey: input.key, ...key };
      return keyAnswerPage(view, await clients.apiKeys.issueApiKey(request, view.call));
    } catch (error) {
      // Scopes and expiry have been checked, so the name is at fault.
      if (error instanceof ConnectError && error.code === Code.InvalidArgument) return reject('name');
      throw error;
    }
  });
}

/** The form's values, normalized so that a resubmission is the same request. */
const typedKey = ({ name, scopes = [], expires: day = '' }: Static<typeof ISSUE_FORM>) => ({
  name: name.trim(),
  expires: day,
  scopes: SCOPE_NAMES.filter((scope) => scopes.includes(scope)),
});

function rotateAction({ pages, clients }: FeatureDependencies): void {
  const overlap = Type.Union(OVERLAPS_S.map((seconds) => Type.Literal(String(seconds))));
  const form = Type.Object({ overlap, expires });
  const path = `${API_KEYS_PATH}/:apiKeyId/rotate`;
  pages.action({ ...ACTION, rpc: rotateApiKey, path, form }, async (view, { params, form: typed, key }) => {
    const expiresAt = expiryAt(typed.expires ?? '');
    if (typeof expiresAt === 'string') throw expiryFailure(expiresAt);
    const request = {
      ...view.tenant,
      idempotencyKey: key,
      apiKeyId: params.apiKeyId!,
      overlapSeconds: Number(typed.overlap),
      ...(expiresAt && { expiresAt }),
    };
    return keyAnswerPage(view, await clients.apiKeys.rotateApiKey(request, view.call));
  });
}

const expiryFailure = (fault: KeyFault) =>
  new Failure(
    422,
    inEach(apiKeysTexts, (t) => t.faults[fault]),
  );

function revokeAction({ pages, clients }: FeatureDependencies): void {
  const path = `${API_KEYS_PATH}/:apiKeyId/revoke`;
  pages.action({ ...ACTION, rpc: revokeApiKey, path }, async (view, { params, key }) => {
    const request = { ...view.tenant, idempotencyKey: key, apiKeyId: params.apiKeyId! };
    await clients.apiKeys.revokeApiKey(request, view.call);
    return { redirect: API_KEYS_PATH, notice: 'revoked' };
  });
}
