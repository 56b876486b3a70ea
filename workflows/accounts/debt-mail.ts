import { formatMoney } from './mail-format.ts';
import type { Addressee } from './mail-links.ts';

interface Facts {
  readonly merchant: string;
  readonly owed: string;
  /** The page with the open debts. */
  readonly link: string;
}

const texts = {
  'pt-BR': {
    subject: (merchant: string) => `Sua empresa tem um débito em aberto: ${merchant}`,
    text: ({
      merchant,
      owed,
      link,
    }: Facts) => `O saldo da sua empresa não cobre os débitos em aberto, por exemplo de uma disputa perdida.

Empresa: ${merchant}
Falta: ${owed}

Descontamos o valor das próximas liberações. Os débitos em aberto e de onde eles vêm:
   ${link}
`,
  },
  en: {
    subject: (merchant: string) => `You have an open debt: ${merchant}`,
    text: ({
      merchant,
      owed,
      link,
    }: Facts) => `Your balance does not cover your open debts, for example from a lost dispute.

Merchant: ${merchant}
Shortfall: ${owed}

The amount is deducted from your next releases. The open debts, and where they come from:
   ${link}
`,
  },
};

/** A mail about debts that the balance does not cover. */
export function debtsMail(owedMinor: bigint, { language, merchant, merchantUrl }: Addressee) {
  const t = texts[language];
  const owed = formatMoney(language, owedMinor);
  const link = `${merchantUrl}/funds`;
  return { subject: t.subject(merchant), text: t.text({ merchant, owed, link }) };
}
