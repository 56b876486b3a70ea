export const newSubscriptionTexts = {
  'pt-BR': {
    title: 'Novo endpoint de webhook',
    url: 'URL',
    urlHint:
      'HTTPS público, na porta 443 ou de 1024 a 65535, sem usuário, senha ou fragmento. Ex.: https://exemplo.com.br/webhooks',
    description: 'Descrição (opcional)',
    descriptionHint: 'Para que serve este endpoint, em até 200 caracteres. Só a sua equipe vê.',
    descriptionTooLong: 'A descrição tem mais de 200 caracteres ou um caractere que não pode ser guardado.',
    urlMissing: 'Informe a URL.',
    urlFaults: {
      MALFORMED: 'Esta não é uma URL absoluta válida.',
      NOT_HTTPS:
        'A URL precisa usar https. Para receber webhooks do ambiente de testes na sua máquina, use npx merchant-payments listen.',
      HAS_CREDENTIALS: 'A URL não pode conter usuário nem senha.',
      HAS_FRAGMENT: 'A URL não pode ter fragmento (#).',
      PORT_NOT_ALLOWED: 'Esta porta não é permitida.',
      HOST_NOT_PUBLIC:
        'O host da URL não está na internet pública. Para receber webhooks do ambiente de testes na sua máquina, use npx merchant-payments listen.',
      TOO_LONG: 'A URL tem mais de 2.048 caracteres.',
    } as Readonly<Record<string, string>>,
    urlRefused: 'Esta URL não é aceita.',
    exists: 'Já existe um endpoint com esta URL.',
    existing: 'Abrir o endpoint existente',
    limit: (limit: string) =>
      `Você já tem ${limit} endpoints ativos, o máximo permitido. Desative um deles antes.`,
    busy: 'Outros endpoints estão sendo criados no momento. Tente novamente em instantes.',
    reused: 'Este formulário já foi enviado com outro conteúdo. Confira e envie novamente.',
    eventTypes: 'Tipos de evento',
    eventTypesHint: 'Os eventos que este endpoint recebe.',
    eventTypesMissing: 'Selecione ao menos um tipo de evento.',
    eventTypesRefused: 'Um dos tipos selecionados não existe mais. Revise a seleção.',
    every: 'Todos os tipos atuais',
    search: 'Buscar tipos',
    submit: 'Criar endpoint',
    secretHint:
      'Depois da criação, o segredo de assinatura é exibido uma única vez. Tenha um lugar seguro para guardá-lo.',
    cancel: 'Cancelar',
  },
  en: {
    title: 'New webhook endpoint',
    url: 'URL',
    urlHint:
      'Public HTTPS, on port 443 or 1024 to 65535, without user name, password or fragment. For example, https://example.com/webhooks',
    description: 'Description (optional)',
    descriptionHint: 'What this endpoint is for, in up to 200 characters. Only your team sees it.',
    descriptionTooLong:
      'The description is longer than 200 characters, or has a character that cannot be stored.',
    urlMissing: 'Enter a URL.',
    urlFaults: {
      MALFORMED: 'This is not a valid absolute URL.',
      NOT_HTTPS:
        'The URL must use https. To receive sandbox webhooks on your own machine, use npx merchant-payments listen.',
      HAS_CREDENTIALS: 'The URL must not contain a user name or password.',
      HAS_FRAGMENT: 'The URL must not have a fragment (#).',
      PORT_NOT_ALLOWED: 'This port is not allowed.',
      HOST_NOT_PUBLIC:
        'The host is not on the public internet. To receive sandbox webhooks on your own machine, use npx merchant-payments listen.',
      TOO_LONG: 'The URL is longer than 2048 characters.',
    } as Readonly<Record<string, string>>,
    urlRefused: 'This URL is not accepted.',
    exists: 'An endpoint with this URL already exists.',
    existing: 'Open the existing endpoint',
    limit: (limit: string) =>
      `You already have ${limit} enabled endpoints, the maximum allowed. Disable one first.`,
    busy: 'Other endpoints are being created right now. Try again shortly.',
    reused: 'This form has already been submitted with other content. Check it and submit it again.',
    eventTypes: 'Event types',
    eventTypesHint: 'The events that this endpoint receives.',
    eventTypesMissing: 'Select at least one event type.',
    eventTypesRefused: 'One of the selected types no longer exists. Check your selection.',
    every: 'All current types',
    search: 'Search types',
    submit: 'Create endpoint',
    secretHint: 'After creation, the signing secret is shown only once. Have a safe place ready for it.',
    cancel: 'Cancel',
  },
};
