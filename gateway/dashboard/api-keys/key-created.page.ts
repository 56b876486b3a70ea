import {
  type ApiKey,
  ApiKeyScope,
  KeyAbsentReason,
} from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { apiKeyScopeName } from '../../../services/platform/api-key-scopes.ts';
import {
  confirmForm,
  copyableBlock,
  details,
  docsLink,
  moment,
  notice,
  shownOnce,
} from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { type Page, pathTo, textsFor, type View } from '../shell/view.ts';
import { apiKeysTexts } from './api-keys.texts.ts';
import { API_KEYS_PATH } from './key-form.ts';

interface KeyResponse {
  readonly apiKey?: ApiKey | undefined;
  readonly key: string;
  readonly keyAbsentReason: KeyAbsentReason;
  /** The old key, after a rotation. */
  readonly rotated?: ApiKey | undefined;
}

/** The response to a form that created a key: the only page that shows it, and only the first time. */
export function keyCreatedPage(view: View, { apiKey, key, keyAbsentReason, rotated }: KeyResponse): Page {
  const t = textsFor(view, apiKeysTexts);
  const { name, hint, scopes, expiresAt, id } = apiKey!;
  const isShown = keyAbsentReason === KeyAbsentReason.UNSPECIFIED;
  const about = details([
    [t.name, name],
    [t.key, html`<code>${hint}…</code>`],
    [t.scopes, html`${scopes.map((scope) => html`<code>${apiKeyScopeName(scope)}</code> `)}`],
    [t.expires, expiresAt ? moment(view, expiresAt) : t.never],
  ]);
  return {
    title: isShown ? t.newKey : t.notRepeated,
    body: html`${isShown ? shownOnce(view, html`<p><strong>${t.once}</strong></p>`, key) : notShown(view, id, hint)}
${about}
${isShown && scopes.includes(ApiKeyScope.WEBHOOKS_MANAGE) ? listenCommand(view, key) : nothing}
${docsLink(view, 'getting-started', t.firstRequest)}
${rotated ? html`<p>${t.oldKey} <code>${rotated.hint}…</code> ${t.endsAt} ${moment(view, rotated.expiresAt)}.</p>` : nothing}
<p><a href="${pathTo(view, API_KEYS_PATH)}">${t.back}</a></p>`,
  };
}

/** How to receive the sandbox's webhooks on one's own machine with a key; the command is removed as the key itself. */
function listenCommand(view: View, key: string): Html {
  if (view.environment === 'live' || view.apiUrl === undefined) return nothing;
  const t = textsFor(view, apiKeysTexts);
  const command = `export MERCHANT_PAYMENTS_API_KEY=${key}
export MERCHANT_PAYMENTS_BASE_URL=${view.apiUrl}
npx merchant-payments listen --forward-to http://localhost:3000/hooks`;
  return html`<h2>${t.ownMachine}</h2><p>${t.ownMachineText}</p>
<div data-once>${copyableBlock(view, command)}</div>
${docsLink(view, 'your-first-webhook', t.firstWebhook)}
<p><a class="button plain" href="${pathTo(view, '/simulate')}">${t.simulate}</a></p>`;
}

function notShown(view: View, id: string, hint: string): Html {
  const t = textsFor(view, apiKeysTexts);
  return html`${notice('busy', t.notRepeatedText)}
<p><a class="button" href="${pathTo(view, API_KEYS_PATH)}#issue">${t.issueAnother}</a></p>
${confirmForm(view, t.revoke, {
  action: `${API_KEYS_PATH}/${id}/revoke`,
  submit: t.revokeButton,
  tone: 'danger',
  text: t.revokeText(hint),
})}`;
}
