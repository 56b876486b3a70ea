export const failureTexts = {
  'pt-BR': {
    heading: 'Não foi possível concluir',
    notFound: 'Esta página não existe ou você não tem acesso a ela.',
    forbidden: 'Seu papel nesta empresa não permite esta ação. Fale com um administrador.',
    badRequest: 'Um dos valores enviados não é válido. Volte e confira o formulário.',
    staleForm:
      'Este formulário expirou e não foi enviado. Volte, recarregue a página e tente novamente. Só textos longos ficam guardados.',
    tooLarge: 'O conteúdo enviado é grande demais.',
    refused: 'Esta operação não é possível na situação atual.',
    inUse: 'Esta operação já está em andamento. Aguarde um momento.',
    unavailable: 'O serviço está temporariamente indisponível. Tente novamente em instantes.',
    unsure:
      'Mesmo assim, o formulário pode ter sido processado. Para ter certeza, recarregue esta página e envie-o de novo: ele só tem efeito uma vez.',
    tooMany: 'Muitas requisições em pouco tempo. Aguarde um momento e tente novamente.',
    internal: 'Ocorreu um erro do nosso lado. Tente novamente e, se persistir, fale com o suporte.',
    back: 'Voltar',
    home: 'Página inicial',
    reference: 'Código para o suporte:',
  },
  en: {
    heading: 'This could not be done',
    notFound: 'This page does not exist, or you do not have access to it.',
    forbidden: 'Your role at this merchant does not allow this. Ask an administrator.',
    badRequest: 'One of the submitted values is not valid. Go back and check the form.',
    staleForm:
      'This form has expired and was not sent. Go back, reload the page and try again. Only long texts are kept.',
    tooLarge: 'The submitted content is too large.',
    refused: 'This operation is not possible in the current state.',
    inUse: 'This operation is already in progress. Wait a moment.',
    unavailable: 'The service is temporarily unavailable. Try again shortly.',
    unsure:
      'The form may have taken effect all the same. To be sure, reload this page and send it again: it takes effect only once.',
    tooMany: 'Too many requests. Wait a moment and try again.',
    internal: 'Something went wrong on our side. Try again, and contact support if the problem persists.',
    back: 'Back',
    home: 'Home',
    reference: 'Reference for support:',
  },
};
