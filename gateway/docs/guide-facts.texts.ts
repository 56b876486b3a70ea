import type { GuideLanguage } from './languages.ts';

/** The words around the values that are filled into the guides. */
export const guideFactTexts = {
  en: {
    environments: { live: 'live', test: 'sandbox' },
    environmentsHead: ['Environment', 'Address', 'Keys start with', '`environment` in JSON'],
    thisHost: '(this host)',
    otherHost: 'a separate host',
    dashboard: 'dashboard',
    seconds: 'seconds',
    noEgressAddresses: 'Deliveries have no fixed source addresses: recognize them by their signature.',
    egressAddresses: (listed: string) =>
      `For allow-lists: deliveries come from ${listed}. Verify their signatures all the same.`,
    errorsHead: ['Status', 'Code', 'Meaning'],
    deprecationsHead: ['Operation', 'Deprecated since', 'Sunset', 'Replacement'],
    details: 'details',
    noDeprecations: 'No operation is deprecated.',
  },
  'pt-BR': {
    environments: { live: 'produção', test: 'testes' },
    environmentsHead: ['Ambiente', 'Endereço', 'Chaves começam com', '`environment` no JSON'],
    thisHost: '(este host)',
    otherHost: 'um host separado',
    dashboard: 'painel',
    seconds: 'segundos',
    noEgressAddresses: 'As entregas não têm endereços de origem fixos: reconheça-as pela assinatura.',
    egressAddresses: (listed: string) =>
      `Para listas de permissão: as entregas partem de ${listed}. Verifique as assinaturas mesmo assim.`,
    errorsHead: ['Status', 'Código', 'Significado'],
    deprecationsHead: ['Operação', 'Descontinuada desde', 'Remoção', 'Substituta'],
    details: 'detalhes',
    noDeprecations: 'Nenhuma operação está descontinuada.',
  },
} satisfies Record<GuideLanguage, object>;
