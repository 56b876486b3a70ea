import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { NotifyContactInput } from '../../services/contracts/accounts/notify-contact.contract.ts';
import type { ExpiringKeySubject } from './key-notice.ts';
import { formatTime } from './mail-format.ts';
import { type MailLinks, mailChoicesUrl, merchantUrl } from './mail-links.ts';
import type { Notice } from './notice.ts';

interface Facts {
  readonly merchant: string;
  /** Its name and its first characters. */
  readonly key: string;
  readonly expires: string;
  /** Empty if the key was never used. */
  readonly lastUsed: string;
  readonly link: string;
  /** Where people choose which mails they get. */
  readonly choices: string;
}

const texts = {
  'pt-BR': {
    subject: (merchant: string) => `Uma chave de API expira em breve: ${merchant}`,
    text: ({
      merchant,
      key,
      expires,
      lastUsed,
      link,
      choices,
    }: Facts) => `Uma chave da API de produção expira em breve. Depois disso, recusamos as requisições feitas com ela.

Empresa: ${merchant}
Chave: ${key}
Expira em: ${expires}
Último uso: ${lastUsed || 'nunca'}

Se algum sistema ainda a usa, gere uma nova chave e troque-a nele antes disso:
   ${link}

Escolha quais e-mails você recebe: ${choices}
`,
  },
  en: {
    subject: (merchant: string) => `An API key expires soon: ${merchant}`,
    text: ({
      merchant,
      key,
      expires,
      lastUsed,
      link,
      choices,
    }: Facts) => `A key for the live API expires soon. After that, we refuse requests made with it.

Merchant: ${merchant}
Key: ${key}
Expires: ${expires}
Last used: ${lastUsed || 'never'}

If a system still uses it, rotate the key and switch that system to the new one before then:
   ${link}

Choose which emails you get: ${choices}
`,
  },
};

/** A mail about an API key that expires soon. */
export function expiringKeyMail(
  { apiKey: { name, hint, lastUsedAt }, expiresAt }: ExpiringKeySubject,
  { language, merchant }: Pick<Notice, 'language' | 'merchant'>,
  input: NotifyContactInput,
  links: MailLinks,
) {
  const t = texts[language];
  const facts = {
    merchant,
    key: `${name} (${hint}…)`,
    expires: formatTime(language, expiresAt),
    lastUsed: lastUsedAt ? formatTime(language, timestampDate(lastUsedAt)) : '',
    link: `${merchantUrl(input, links)}/api-keys`,
    choices: mailChoicesUrl(links),
  };
  return { subject: t.subject(merchant), text: t.text(facts) };
}
