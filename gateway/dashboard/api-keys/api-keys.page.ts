import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { type Static, Type } from 'typebox';
import { type ApiKey, ApiKeyService } from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { expiresSoon, isStillUsed, replacedKeyOf } from '../../../services/platform/api-key-expiry.ts';
import { API_KEY_SCOPES, apiKeyScopeName } from '../../../services/platform/api-key-scopes.ts';
import {
  badge,
  confirmForm,
  details,
  docsLink,
  field,
  hiddenFields,
  moment,
  pageParameter,
  pager,
  select,
  type Tone,
} from '../shell/components.ts';
import { codeOf } from '../shell/failures.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { type Page, textsFor, type View } from '../shell/view.ts';
import { apiKeysTexts } from './api-keys.texts.ts';
import { keyCreatedPage } from './key-created.page.ts';
import {
  API_KEYS_PATH,
  expiryAt,
  expiryInput,
  type KeyEntry,
  type KeyFault,
  keyForm,
  SCOPE_NAMES,
} from './key-form.ts';

/** How long the old key may stay valid after a rotation, in seconds. */
const OVERLAPS_S = [0, 3_600, 86_400, 604_800, 2_592_000] as const;
const DEFAULT_OVERLAP_S = '86400';
const SPEC = { section: 'api-keys' } as const;
const ACTION = { ...SPEC, refusals: apiKeysTexts };
const { listApiKeys, issueApiKey, rotateApiKey, revokeApiKey } = ApiKeyService.method;
const expires = Type.Optional(Type.String({ maxLength: 40 }));

/** API keys: developers issue, rotate and revoke them. */
export function apiKeysPages(pages: Pages): void {
  const query = Type.Object({ page: pageParameter });
  pages.page({ ...SPEC, rpc: listApiKeys, path: API_KEYS_PATH, query }, (view, input) =>
    apiKeysPage(view, { page: input.query.page }),
  );
  issueAction(pages);
  rotateAction(pages);
  revokeAction(pages);
}

const ISSUE_FORM = Type.Object({
  name: Type.String({ maxLength: 500 }),
  scopes: Type.Optional(Type.Array(Type.Enum(SCOPE_NAMES), { maxItems: SCOPE_NAMES.length })),
  expires,
});

function issueAction(pages: Pages): void {
  const options = { ...ACTION, rpc: issueApiKey, path: `${API_KEYS_PATH}/issue`, form: ISSUE_FORM };
  pages.action(options, async (view, input) => {
    const typed = typedKey(input.form);
    const reject = (...faults: KeyFault[]) => apiKeysPage(view, { entry: { ...typed, faults } });
    const expiresAt = expiryAt(typed.expires);
    const faults: KeyFault[] = [];
    if (typed.name === '') faults.push('name');
    if (typed.scopes.length === 0) faults.push('scopes');
    if (typeof expiresAt === 'string') return reject(...faults, expiresAt);
    if (faults.length > 0) return reject(...faults);
    const scopes = typed.scopes.map((scope) => API_KEY_SCOPES[scope]);
    const key = { name: typed.name, scopes, ...(expiresAt && { expiresAt }) };
    try {
      const request = { idempotencyKey: input.key, ...key };
      return keyCreatedPage(view, await view.clients.apiKeys.issueApiKey(request));
    } catch (error) {
      // Scopes and expiry have been checked, so the name is at fault.
      if (codeOf(error) === Code.InvalidArgument) return reject('name');
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

function rotateAction(pages: Pages): void {
  const overlap = Type.Union(OVERLAPS_S.map((seconds) => Type.Literal(String(seconds))));
  const form = Type.Object({ overlap, expires, page: pageParameter });
  const path = `${API_KEYS_PATH}/:apiKeyId/rotate`;
  pages.action({ ...ACTION, rpc: rotateApiKey, path, form }, async (view, { params, form: typed, key }) => {
    const expiresAt = expiryAt(typed.expires ?? '');
    const apiKeyId = params.apiKeyId!;
    if (typeof expiresAt === 'string') {
      const { page, ...entered } = typed;
      return apiKeysPage(view, { page, rotation: { apiKeyId, ...entered, fault: expiresAt } });
    }
    const request = {
      idempotencyKey: key,
      apiKeyId,
      overlapSeconds: Number(typed.overlap),
      ...(expiresAt && { expiresAt }),
    };
    return keyCreatedPage(view, await view.clients.apiKeys.rotateApiKey(request));
  });
}

function revokeAction(pages: Pages): void {
  const path = `${API_KEYS_PATH}/:apiKeyId/revoke`;
  pages.action({ ...ACTION, rpc: revokeApiKey, path }, async (view, { params, key }) => {
    const request = { idempotencyKey: key, apiKeyId: params.apiKeyId! };
    await view.clients.apiKeys.revokeApiKey(request);
    return { redirect: API_KEYS_PATH, notice: 'revoked' };
  });
}

const PAGE_SIZE = 25;

/** The submitted values of a rejected rotation, and what is wrong with its expiry. */
interface RotationEntry {
  readonly apiKeyId: string;
  readonly overlap: string;
  readonly expires?: string;
  readonly fault: KeyFault;
}

/** The page of the list, and a rejected form to show again with its fault. */
interface Shown {
  readonly page?: string | undefined;
  readonly entry?: KeyEntry;
  readonly rotation?: RotationEntry;
}

/** The API keys of an environment, without their secrets. */
async function apiKeysPage(view: View, { page = '', entry, rotation }: Shown): Promise<Page> {
  const t = textsFor(view, apiKeysTexts);
  const list = await view.clients.apiKeys.listApiKeys({ pageSize: PAGE_SIZE, pageToken: page });
  return {
    title: t.title,
    ...((entry || rotation) && { status: 422 }),
    notices: { revoked: t.revoked },
    body: html`<p>${t.lead[view.environment]}</p>
${docsLink(view, 'authentication', t.guide)}
${keyList(view, list.apiKeys, { page, rotation })}
${pager(view, list.nextPageToken)}
<h2 id="issue">${t.issue}</h2>
${keyForm(view, entry)}`,
  };
}

function keyList(view: View, keys: readonly ApiKey[], shown: Shown): Html {
  const t = textsFor(view, apiKeysTexts);
  if (keys.length === 0) return html`<p class="empty">${t.empty}</p>`;
  return html`<p class="soft">${t.keys}</p><div class="keys">${keys.map((key) => keyCard(view, key, shown))}</div>`;
}

function keyCard(view: View, key: ApiKey, shown: Shown): Html {
  const t = textsFor(view, apiKeysTexts);
  const { name, hint, scopes, createdAt, lastUsedAt, expiresAt, revokedAt } = key;
  const state = keyState(key, new Date());
  const isOver = state === 'expired' || state === 'revoked';
  const facts = details([
    [t.scopes, html`${scopes.map((scope) => html`<code>${apiKeyScopeName(scope)}</code> `)}`],
    [t.created, moment(view, createdAt)],
    [t.lastUsed, lastUsedAt ? moment(view, lastUsedAt) : t.never],
    revokedAt
      ? [t.revokedAt, moment(view, revokedAt)]
      : [t.expires, expiresAt ? moment(view, expiresAt) : t.never],
  ]);
  return html`<section class="card key"><h2>${name} ${badge(TONES[state], t.states[state])}</h2>
<p><code>${hint}…</code></p>
${facts}
${
  isOver
    ? nothing
    : html`<div class="key-actions">${key.rotatedAt ? nothing : rotateForm(view, key, shown)}
${revokeForm(view, key)}</div>`
}</section>`;
}

type KeyState = 'active' | 'expiring' | 'replaced' | 'stillUsed' | 'expired' | 'revoked';

const TONES: Readonly<Record<KeyState, Tone>> = {
  active: 'good',
  expiring: 'busy',
  replaced: 'off',
  stillUsed: 'busy',
  expired: 'off',
  revoked: 'off',
};

function keyState(key: ApiKey, now: Date): KeyState {
  const { revokedAt, expiresAt } = key;
  if (revokedAt) return 'revoked';
  if (!expiresAt) return 'active';
  const at = timestampDate(expiresAt);
  if (at <= now) return 'expired';
  const replaced = replacedKeyOf(key);
  if (replaced) return isStillUsed(replaced, now) ? 'stillUsed' : 'replaced';
  return expiresSoon(at, now) ? 'expiring' : 'active';
}

function rotateForm(view: View, { id }: ApiKey, { page = '', rotation }: Shown): Html {
  const t = textsFor(view, apiKeysTexts);
  const entry = rotation?.apiKeyId === id ? rotation : undefined;
  const overlaps = OVERLAPS_S.map((seconds) => [String(seconds), t.overlaps[seconds]] as const);
  const expiry = { name: 'expires', label: t.newExpiresOn, hint: t.expiresHint };
  const fault = entry && t.faults[entry.fault];
  const fields = html`${hiddenFields({ page })}
${field({ name: 'overlap', id: `overlap-${id}`, label: t.overlap }, select(overlaps, entry?.overlap ?? DEFAULT_OVERLAP_S))}
${field({ ...expiry, id: `expires-${id}`, fault }, (attributes) => expiryInput(attributes, entry?.expires))}`;
  const rotate = { action: `${API_KEYS_PATH}/${id}/rotate`, submit: t.rotateButton, fields };
  return confirmForm(view, t.rotate, { ...rotate, text: t.rotateText, isOpen: entry !== undefined });
}

function revokeForm(view: View, { id, hint }: ApiKey): Html {
  const t = textsFor(view, apiKeysTexts);
  return confirmForm(view, t.revoke, {
    action: `${API_KEYS_PATH}/${id}/revoke`,
    submit: t.revokeButton,
    tone: 'danger',
    text: t.revokeText(hint),
  });
}
