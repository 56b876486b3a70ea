export const reconcileTexts = {
  'pt-BR': {
    title: 'Conciliação',
    link: 'Conciliar',
    intro:
      'Os totais do período em cada lista, e os mesmos dados em CSV. A linha total de cada arquivo é igual à desta página.',
    total: 'Total',
    totals: 'Totais do período',
    byStatus: 'Totais do período, por situação',
    count: 'Quantidade',
    status: 'Situação',
    amount: 'Valor',
    deducted: 'Deduzido',
    fee: 'Custo',
    net: 'Líquido',
    none: 'Nada neste período.',
    lists: {
      statement: { name: 'Extrato', hint: 'Tudo o que mudou o saldo no período.' },
      sales: {
        name: 'Vendas',
        hint: 'Por data da venda. O líquido é igual à linha Venda do extrato.',
      },
      releases: { name: 'Liberações', hint: 'Por data de liberação, na situação atual.' },
      refunds: {
        name: 'Reembolsos',
        hint: 'Por data da solicitação. O extrato traz os débitos, na data do débito, com o ID do caso em source_id.',
      },
      disputes: {
        name: 'Disputas',
        hint: 'Por data de abertura. O valor não inclui disputas do restante de uma venda. O deduzido, menos o devolvido, é a soma do que o extrato traz, na data de cada lançamento, com o ID da disputa em source_id.',
      },
      advances: {
        name: 'Antecipações',
        hint: 'Por data da solicitação. O extrato traz as liberadas, na data da liberação, com o ID da solicitação em source_id.',
      },
    },
  },
  en: {
    title: 'Reconcile',
    link: 'Reconcile',
    intro:
      'The totals of the period in each list, and the same data as CSV. The total line of each file equals this page.',
    total: 'Total',
    totals: 'Totals of the period',
    byStatus: 'Totals of the period, by status',
    count: 'Count',
    status: 'Status',
    amount: 'Amount',
    deducted: 'Deducted',
    fee: 'Cost',
    net: 'Net',
    none: 'Nothing in this period.',
    lists: {
      statement: { name: 'Statement', hint: 'Everything that changed the balance in the period.' },
      sales: {
        name: 'Sales',
        hint: 'By date of sale. The net amount equals the Sale line of the statement.',
      },
      releases: { name: 'Releases', hint: 'By release date, as they stand now.' },
      refunds: {
        name: 'Refunds',
        hint: 'By date of request. The statement has the debits, on their date, with the case ID as source_id.',
      },
      disputes: {
        name: 'Disputes',
        hint: 'By date opened. The amount leaves out disputes of the rest of a sale. What was deducted, less what was returned, is the sum of what the statement has with the dispute ID as source_id, on the date of each movement.',
      },
      advances: {
        name: 'Advances',
        hint: 'By date of request. The statement has those released, on that date, with the request ID as source_id.',
      },
    },
  },
};
