import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { API_KEY_SCOPES, type ApiKeyScopeName } from '../../../services/platform/api-key-scopes.ts';
import { addDays, civilDateAt, isCivilDate, startOfDay } from '../../../services/platform/civil-date.ts';
import { field, form, inputField } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { apiKeysTexts } from './api-keys.texts.ts';

/** Below the merchant's. */
export const API_KEYS_PATH = '/api-keys';

/** The latest expiry accepted. */
const MAX_DAY = '2999-12-31';

/** The form values of the scopes. */
export const SCOPE_NAMES = Object.keys(API_KEY_SCOPES) as ApiKeyScopeName[];

export type KeyFault = keyof (typeof apiKeysTexts)['en']['faults'];

/** The submitted values of a rejected form, and what is wrong with them. */
export interface KeyEntry {
  readonly name: string;
  readonly scopes: readonly ApiKeyScopeName[];
  readonly expires: string;
  readonly faults: readonly KeyFault[];
}

/** The form that issues a key, empty or with rejected values. */
export function keyForm(view: View, entry?: KeyEntry): Html {
  const t = textsFor(view, apiKeysTexts);
  const faultOf = (...names: readonly KeyFault[]) => {
    const fault = names.find((name) => entry?.faults.includes(name));
    return fault && t.faults[fault];
  };
  const fields = html`${inputField(
    { name: 'name', label: t.name, hint: t.nameHint, fault: faultOf('name') },
    entry?.name ?? '',
    html`required maxlength="100" autocomplete="off"`,
  )}
${scopeChoices(view, entry?.scopes ?? [], faultOf('scopes'))}
${field(
  { name: 'expires', label: t.expiresOn, hint: t.expiresHint, fault: faultOf('expiry', 'lateExpiry') },
  (attributes) => expiryInput(attributes, entry?.expires),
)}`;
  return form(view, { action: `${API_KEYS_PATH}/issue`, submit: t.issueButton, fields });
}

function scopeChoices(view: View, chosen: readonly ApiKeyScopeName[], fault: string | undefined): Html {
  const t = textsFor(view, apiKeysTexts);
  // The first one is focused, as the form is below all keys.
  const faulty = fault ? html` aria-invalid="true" aria-describedby="scopes-fault" autofocus` : nothing;
  const choice = (name: ApiKeyScopeName, index: number) =>
    html`<label class="option"><input type="checkbox" name="scopes" value="${name}"${
      chosen.includes(name) ? html` checked` : nothing
    }${index === 0 ? faulty : nothing}> <code>${name}</code> ${t.scopeHints[name]}</label>`;
  return html`<fieldset><legend>${t.scopes}</legend>
${SCOPE_NAMES.map(choice)}
${fault ? html`<p class="fault" id="scopes-fault">${fault}</p>` : nothing}</fieldset>`;
}

/** A date input, from today on. */
export function expiryInput(attributes: Html, value = ''): Html {
  return html`<input ${attributes} type="date" min="${civilDateAt(new Date())}" value="${value}">`;
}

/** The last second of a day in Brasília time; undefined for an empty one, a fault for a malformed, past or too late one. */
export function expiryAt(day: string) {
  if (day === '') return undefined;
  // Date inputs accept years of up to six digits.
  if (/^\d{5,6}-\d\d-\d\d$/.test(day)) return 'lateExpiry';
  if (!isCivilDate(day)) return 'expiry';
  if (day > MAX_DAY) return 'lateExpiry';
  const at = new Date(startOfDay(addDays(day, 1)).getTime() - 1_000);
  return at > new Date() ? timestampFromDate(at) : 'expiry';
}
