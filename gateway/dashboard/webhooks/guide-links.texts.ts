export const guideLinksTexts = {
  'pt-BR': {
    egress:
      'Para listas de permissão: as entregas partem destes endereços. Verifique as assinaturas mesmo assim.',
    guides: {
      'webhook-deliveries': 'Guia: como receber webhooks',
      verifying: 'Guia: como verificar as assinaturas',
      addresses: 'Guia: quais URLs são aceitas e de onde partem as entregas',
      'states-of-a-subscription': 'Guia: as situações de um endpoint',
      retries: 'Guia: quando uma entrega é repetida',
      'duplicates-and-order': 'Guia: como tratar eventos repetidos e fora de ordem',
    },
  },
  en: {
    egress: 'For allow-lists: deliveries come from these addresses. Verify their signatures all the same.',
    guides: {
      'webhook-deliveries': 'Guide: how to receive webhooks',
      verifying: 'Guide: how to verify signatures',
      addresses: 'Guide: which URLs are accepted and where deliveries come from',
      'states-of-a-subscription': 'Guide: the states of an endpoint',
      retries: 'Guide: when a delivery is retried',
      'duplicates-and-order': 'Guide: how to handle repeated events and events out of order',
    },
  },
};
