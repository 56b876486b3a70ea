export const editSubscriptionTexts = {
  'pt-BR': {
    edit: 'Editar',
    title: 'Editar endpoint',
    hints: [
      'Um tipo adicionado vale para todos os eventos a partir de agora.',
      'Um tipo removido não gera novas entregas. As entregas em andamento continuam.',
      'Uma nova URL recebe um evento de teste e as entregas em andamento. O segredo de assinatura continua o mesmo.',
    ],
    conflict:
      'Outra pessoa alterou este endpoint depois que você abriu o formulário. Nada foi salvo. Compare o que você preencheu com os valores atuais e salve novamente.',
    current: 'Valores atuais',
    submit: 'Salvar',
    cancel: 'Cancelar',
  },
  en: {
    edit: 'Edit',
    title: 'Edit endpoint',
    hints: [
      'An added type applies to all events from now on.',
      'A removed type gets no new deliveries. Deliveries in progress continue.',
      'A new URL receives a test event and the deliveries in progress. The signing secret stays the same.',
    ],
    conflict:
      'Someone else changed this endpoint after you opened the form. Nothing was saved. Compare your entries with the current values and save again.',
    current: 'Current values',
    submit: 'Save',
    cancel: 'Cancel',
  },
};
