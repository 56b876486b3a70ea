import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { ExpiringKeySubject } from './key-notice.ts';
import { formatTime, inOneLine } from './mail-format.ts';
import type { Addressee } from './mail-links.ts';

interface Facts {
  readonly merchant: string;
  /** Its name and its first characters. */
  readonly key: string;
  readonly expires: string;
  /** Empty if it was not replaced. */
  readonly rotated: string;
  /** Empty if the key was never used. */
  readonly lastUsed: string;
  readonly link: string;
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
    }: Facts) => `Uma chave da API de produção expira em breve. Depois disso, recusamos as requisições feitas com ela.

Empresa: ${merchant}
Chave: ${key}
Expira em: ${expires}
Último uso: ${lastUsed || 'nunca'}

Se algum sistema ainda a usa, gere uma nova chave e troque-a nele antes disso:
   ${link}
`,
    stillUsedSubject: (merchant: string) => `Uma chave de API substituída ainda está em uso: ${merchant}`,
    stillUsedText: ({
      merchant,
      key,
      rotated,
      expires,
      lastUsed,
      link,
    }: Facts) => `Uma chave da API de produção foi substituída, mas algum sistema ainda a usa. Depois que ela expirar, recusamos as requisições desse sistema.

Empresa: ${merchant}
Chave antiga: ${key}
Substituída em: ${rotated}
Último uso: ${lastUsed}
Expira em: ${expires}

Troque a chave nesse sistema pela nova antes disso. Se você não tem mais a nova, gere outra: a antiga continua válida no máximo até a mesma data.
   ${link}
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
    }: Facts) => `A key for the live API expires soon. After that, we refuse requests made with it.

Merchant: ${merchant}
Key: ${key}
Expires: ${expires}
Last used: ${lastUsed || 'never'}

If a system still uses it, rotate the key and switch that system to the new one before then:
   ${link}
`,
    stillUsedSubject: (merchant: string) => `A replaced API key is still in use: ${merchant}`,
    stillUsedText: ({
      merchant,
      key,
      rotated,
      expires,
      lastUsed,
      link,
    }: Facts) => `A key for the live API was replaced, but a system still uses it. Once it expires, we refuse that system's requests.

Merchant: ${merchant}
Old key: ${key}
Replaced: ${rotated}
Last used: ${lastUsed}
Expires: ${expires}

Switch that system to the new key before then. If you no longer have the new one, rotate again: the old key does not last longer.
   ${link}
`,
  },
};

/** A mail about an API key that expires soon, or that was replaced and is still used. */
export function expiringKeyMail(
  { apiKey: { name, hint, lastUsedAt, rotatedAt }, expiresAt }: ExpiringKeySubject,
  { language, merchant, merchantUrl }: Addressee,
) {
  const t = texts[language];
  const facts = {
    merchant,
    key: `${inOneLine(name)} (${hint}…)`,
    expires: formatTime(language, expiresAt),
    rotated: rotatedAt ? formatTime(language, timestampDate(rotatedAt)) : '',
    lastUsed: lastUsedAt ? formatTime(language, timestampDate(lastUsedAt)) : '',
    link: `${merchantUrl}/api-keys`,
  };
  return rotatedAt
    ? { subject: t.stillUsedSubject(merchant), text: t.stillUsedText(facts) }
    : { subject: t.subject(merchant), text: t.text(facts) };
}
