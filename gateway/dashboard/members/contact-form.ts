import {
  type GetMerchantContactResponse,
  Language,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { field, form, select } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { membersTexts } from './members.texts.ts';

/** The languages of messages as forms name them. */
export const CONTACT_LANGUAGES = { 'pt-BR': Language.PT_BR, en: Language.EN } as const;

type ContactLanguage = keyof typeof CONTACT_LANGUAGES;

/** What was typed as the contact, and why it is refused. */
export interface ContactEntry {
  readonly email: string;
  readonly language: ContactLanguage;
  readonly fault: string;
}

/** Whom the merchant wants to be written to in this environment, to change. */
export function contactForm(view: View, contact: GetMerchantContactResponse, entry?: ContactEntry): Html {
  const t = textsFor(view, membersTexts);
  const email = entry?.email ?? (contact.isSet ? contact.emails[0] : '');
  const language = entry?.language ?? (contact.language === Language.EN ? 'en' : 'pt-BR');
  const others = contact.emails.length > 0 ? t.contactAdmins(contact.emails.join(', ')) : t.contactNobody;
  const fields = html`${field(
    { name: 'contact', label: t.email, hint: t.contactHint, fault: entry?.fault },
    (attributes) =>
      html`<input ${attributes} type="email" maxlength="254" autocomplete="off" value="${email}">`,
  )}
${field(
  { name: 'language', label: t.language },
  select(
    [
      ['pt-BR', t.languages.ptBr],
      ['en', t.languages.en],
    ],
    language,
  ),
)}`;
  return html`<p>${t.contactLead}</p>
${contact.isSet ? nothing : html`<p>${others}</p>`}
${form(view, { action: '/members/contact', submit: t.saveContact, fields })}`;
}
