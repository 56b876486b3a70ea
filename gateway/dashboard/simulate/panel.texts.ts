export const panelTexts = {
  'pt-BR': {
    title: 'Simular',
    guide: 'Guia: o que o valor de um reembolso simula',
    intro:
      'Disponível apenas no ambiente de testes. Simule o que clientes, provedores e nossas equipes fazem, com as mesmas chamadas de produção. Cada passo envia webhooks reais.',
    reach: 'Como chegar a cada situação de um reembolso',
    reachSteps: {
      MERCHANT_REVIEW:
        'Abra um caso solicitado pelo cliente. Se os limites de 24 horas o enviarem para análise, abra um caso solicitado há 2 dias.',
      SERVICE_REVIEW:
        'Conteste um caso, abra um caso solicitado há 8 dias para que o prazo vença ou abra uma disputa sobre o pagamento de um caso aprovado.',
      APPROVED_FOR_EXECUTION:
        'Adicione uma pendência a um caso solicitado pelo cliente e aprove-o. Sem pendência, ele costuma ser executado em segundos.',
      FUNDING_REQUIRED:
        'Abra um caso de valor maior que o saldo, aprove-o na análise, se for o caso, e inicie a execução. Se solicitado há 2 dias, ele não conta nos limites de 24 horas dos próximos casos.',
      PROCESSING:
        'Crie uma venda por Pix, abra um caso para ela com valor que termine em 04 e aprove-o. Se a execução não começar sozinha, inicie-a.',
      SUCCEEDED:
        'Como PROCESSING, com valor que termine em 00. Se o caso continuar em processamento, simule que o provedor pagou.',
      FAILED:
        'Como PROCESSING, com valor que termine em 01. Se o caso continuar em processamento, simule que o provedor não pagou. Ou devolva um reembolso já pago.',
      CANCELED: 'Cancele um caso antes da execução.',
      REJECTED: 'Com o caso em análise, recuse-o.',
    },
    funds: 'Recebíveis',
    balance: 'Saldo disponível',
    release: 'Liberar recebíveis vencidos',
    releaseHint: 'Executa a rotina diária: libera tudo o que tem data de hoje ou anterior.',
    recentCases: 'Casos recentes',
    recentHint: 'Os cinco mais recentes.',
    advances: 'Antecipações',
    advance: 'Antecipação',
    recentAdvances: 'Solicitações de antecipação recentes',
    noAdvances: 'Nenhuma solicitação ainda.',
    advancesHint:
      'Solicite uma antecipação na página de antecipações e decida-a aqui, ou crie uma antecipação com data passada, que pode ir até a quitação.',
    newAdvance: 'Solicitar antecipação',
    pastAdvance: 'Antecipação com data passada',
    pastAdvanceHint:
      'Cria uma venda no cartão de 100 dias atrás, em três parcelas, antecipada no mesmo dia. Como todas as datas já passaram, ela pode ser quitada.',
    createPastAdvance: 'Criar antecipação',
    events: 'Publicar um evento',
    eventsHint: 'Publique um evento do catálogo com dados de exemplo e veja como seu servidor o recebe.',
  },
  en: {
    title: 'Simulate',
    guide: 'Guide: what the amount of a refund simulates',
    intro:
      'Available in the sandbox only. Simulate what customers, providers and our teams do, with the same calls as in live. Every step sends real webhooks.',
    reach: 'How to reach each refund status',
    reachSteps: {
      MERCHANT_REVIEW:
        'Open a case requested by the customer. If the 24-hour limits send it to review, open one requested 2 days ago.',
      SERVICE_REVIEW:
        'Contest a case, open one requested 8 days ago so that its deadline passes, or dispute the payment of an approved case.',
      APPROVED_FOR_EXECUTION:
        'Add a blocker to a case requested by the customer, then approve it. Without a blocker it is usually executed within seconds.',
      FUNDING_REQUIRED:
        'Open a case that exceeds the balance, approve it in review if it goes there, and start its execution. If requested 2 days ago, it does not count toward the 24-hour limits of the next cases.',
      PROCESSING:
        'Create a Pix sale, open a case for it with an amount that ends in 04 and approve it. Start its execution if it does not start by itself.',
      SUCCEEDED:
        'As for PROCESSING, with an amount that ends in 00. If the case stays there, simulate that the provider paid.',
      FAILED:
        'As for PROCESSING, with an amount that ends in 01. If the case stays there, simulate that the provider did not pay. Or return a paid refund.',
      CANCELED: 'Cancel a case before its execution.',
      REJECTED: 'While a case is under review, reject it.',
    },
    funds: 'Receivables',
    balance: 'Available balance',
    release: 'Release due funds',
    releaseHint: 'Runs the daily routine: releases everything dated today or earlier.',
    recentCases: 'Recent cases',
    recentHint: 'The five most recent.',
    advances: 'Advances',
    advance: 'Advance',
    recentAdvances: 'Recent advance requests',
    noAdvances: 'No requests yet.',
    advancesHint:
      'Request an advance on the advances page and decide it here, or create one dated in the past, which can be taken all the way to settlement.',
    newAdvance: 'Request an advance',
    pastAdvance: 'Advance dated in the past',
    pastAdvanceHint:
      'Creates a card sale from 100 days ago in three installments, advanced on the same day. As all its dates have passed, it can be settled.',
    createPastAdvance: 'Create advance',
    events: 'Publish an event',
    eventsHint: 'Publish an event from the catalog with example data to see how your server handles it.',
  },
};
