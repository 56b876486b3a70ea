export const guideLinksTexts = {
  'pt-BR': {
    egress:
      'Para listas de permissão: as entregas partem destes endereços. Verifique as assinaturas mesmo assim.',
    guides: {
      deliveries: 'Guia: como receber webhooks',
      verifying: 'Guia: como verificar as assinaturas',
      addresses: 'Guia: quais URLs são aceitas e de onde partem as entregas',
      states: 'Guia: as situações de um endpoint',
      retries: 'Guia: quando uma entrega é repetida',
      duplicates: 'Guia: como tratar eventos repetidos e fora de ordem',
    },
  },
  en: {
    egress: 'For allow-lists: deliveries come from these addresses. Verify their signatures all the same.',
    guides: {
      deliveries: 'Guide: how to receive webhooks',
      verifying: 'Guide: how to verify signatures',
      addresses: 'Guide: which URLs are accepted and where deliveries come from',
      states: 'Guide: the states of an endpoint',
      retries: 'Guide: when a delivery is retried',
      duplicates: 'Guide: how to handle repeated events and events out of order',
    },
  },
};
