export const editSubscriptionTexts = {
  'pt-BR': {
    edit: 'Editar',
    title: 'Editar endpoint',
    hints: [
      'Um tipo adicionado vale para todos os eventos a partir de agora; nenhum se perde.',
      'Um tipo removido não gera novas entregas. As entregas já abertas continuam.',
      'Uma nova URL recebe um evento de teste e as entregas abertas. O segredo de assinatura continua o mesmo.',
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
      'An added type applies to every event from now on; none is lost.',
      'A removed type gets no new deliveries. Deliveries that are already open go on.',
      'A new URL gets a test event and the open deliveries. The signing secret stays the same.',
    ],
    conflict:
      'Someone else changed this endpoint after you opened the form. Nothing was saved. Compare your entries with the current values and save again.',
    current: 'Current values',
    submit: 'Save',
    cancel: 'Cancel',
  },
};
