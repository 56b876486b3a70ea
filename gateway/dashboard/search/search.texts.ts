export const searchTexts = {
  'pt-BR': {
    title: 'Busca',
    titleOf: (text: string) => `Busca por “${text}”`,
    prompt:
      'Busque por um ID, também o do banco para um reembolso, um número de pedido, a referência de um cliente, uma data de liberação ou a URL de um webhook.',
    noEndpoints:
      'Busque por um ID, também o do banco para um reembolso, um número de pedido, a referência de um cliente ou uma data de liberação.',
    none: (text: string) => `Nada encontrado para “${text}”.`,
    noneHint:
      'Digite um número de pedido desde o início, e uma referência ou um ID por inteiro, com as mesmas maiúsculas e minúsculas. A busca encontra só o que pertence a esta empresa e a este ambiente.',
    records: 'Com este ID',
    kind: 'Tipo',
    id: 'ID',
    kinds: {
      refund: 'Reembolso',
      dispute: 'Disputa',
      sale: 'Venda',
      advance: 'Antecipação',
      product: 'Produto',
      subscription: 'Webhook',
      delivery: 'Entrega',
      resend: 'Reenvio',
      event: 'Evento',
    },
    sales: 'Vendas',
    ofCustomer: 'Ver todas as vendas deste cliente',
    refunds: 'Reembolsos',
    disputes: 'Disputas',
    endpoints: 'Webhooks',
    more: 'Há mais resultados do que os mostrados.',
  },
  en: {
    title: 'Search',
    titleOf: (text: string) => `Search for “${text}”`,
    prompt:
      'Search for an ID, including the bank’s for a refund, an order number, a customer reference, a release date or the URL of a webhook.',
    noEndpoints:
      'Search for an ID, including the bank’s for a refund, an order number, a customer reference or a release date.',
    none: (text: string) => `Nothing found for “${text}”.`,
    noneHint:
      'Enter an order number from its beginning, and a reference or an ID in full and in the same case. Search finds only what belongs to this merchant and environment.',
    records: 'With this ID',
    kind: 'Type',
    id: 'ID',
    kinds: {
      refund: 'Refund',
      dispute: 'Dispute',
      sale: 'Sale',
      advance: 'Advance',
      product: 'Product',
      subscription: 'Webhook',
      delivery: 'Delivery',
      resend: 'Resend',
      event: 'Event',
    },
    sales: 'Sales',
    ofCustomer: 'View all sales of this customer',
    refunds: 'Refunds',
    disputes: 'Disputes',
    endpoints: 'Webhooks',
    more: 'There are more results than shown.',
  },
};
