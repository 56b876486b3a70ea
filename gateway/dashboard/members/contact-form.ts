import {
  type GetMerchantContactResponse,
  Language,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { field, form, inputField, select } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { LANGUAGE_NAMES } from '../shell/language.ts';
import { textsFor, type View } from '../shell/view.ts';
import { membersTexts } from './members.texts.ts';

/** The form values of the message languages. */
export const CONTACT_LANGUAGES = { 'pt-BR': Language.PT_BR, en: Language.EN } as const;

type ContactLanguage = keyof typeof CONTACT_LANGUAGES;

/** The submitted values of a rejected form, and why it was rejected. */
export interface ContactEntry {
  readonly email: string;
  readonly language: ContactLanguage;
  readonly fault: string;
}

export function contactForm(view: View, contact: GetMerchantContactResponse, entry?: ContactEntry): Html {
  const t = textsFor(view, membersTexts);
  const email = entry?.email ?? (contact.isSet ? contact.emails[0] : '');
  const language = entry?.language ?? (contact.language === Language.EN ? 'en' : 'pt-BR');
  const fallback =
    contact.emails.length > 0 ? t.contactFallback(contact.emails.join(', ')) : t.contactMissing;
  const fields = html`${inputField(
    { name: 'contact', label: t.email, hint: t.contactHint, fault: entry?.fault },
    email ?? '',
    html`type="email" maxlength="254" autocomplete="off"`,
  )}
${field({ name: 'language', label: t.language }, select(Object.entries(LANGUAGE_NAMES), language))}`;
  return html`<p>${t.contactLead}</p>
${contact.isSet ? nothing : html`<p>${fallback}</p>`}
${form(view, { action: '/members/contact', submit: t.saveContact, fields })}`;
}
