import type { GuideLanguage } from './languages.ts';

export const errorPagesTexts = {
  en: {
    pageTitle: 'Errors of the Merchant Payments API',
    title: 'Errors',
    intro: 'Every error response is application/problem+json with the seven fields of these examples.',
    typeHint: 'Its type links to its entry on this page.',
    back: 'Back to the reference',
    status: 'Status',
    meaning: 'Meaning',
    action: 'What to do',
    retry: 'Try again?',
    headers: 'Headers',
  },
  'pt-BR': {
    pageTitle: 'Erros da API Merchant Payments',
    title: 'Erros',
    intro: 'Toda resposta de erro é application/problem+json com os sete campos destes exemplos.',
    typeHint: 'O campo type leva à descrição do erro em inglês, que tem um link para cá.',
    back: 'Voltar à referência',
    status: 'Status',
    meaning: 'Significado',
    action: 'O que fazer',
    retry: 'Tentar de novo?',
    headers: 'Cabeçalhos',
  },
} satisfies Record<GuideLanguage, object>;

/** The names of the languages, as the link to the other page shows them. */
export const languageNames: Readonly<Record<GuideLanguage, string>> = {
  en: 'In English',
  'pt-BR': 'Em português',
};
