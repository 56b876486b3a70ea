export const homeTexts = {
  'pt-BR': {
    title: 'Lojistas',
    lead: 'Escolha onde trabalhar. O ambiente de testes não move dinheiro.',
    merchant: 'Lojista',
    role: 'Seu papel:',
    live: 'Produção',
    sandbox: 'Ambiente de testes',
    none: (email: string) =>
      `Você ainda não participa de nenhum lojista. Peça a um administrador que convide ${email}.`,
    noAddress:
      'Você ainda não participa de nenhum lojista, e seu provedor de identidade não informou um e-mail para o qual alguém pudesse convidar você.',
    invitations: 'Convites',
    invited: 'Convidam você para',
    until: 'Vale até',
    accept: 'Aceitar',
    leave: 'Sair deste lojista',
    leaveText: 'Você perde o acesso imediatamente. Para voltar, precisa de um novo convite.',
    left: 'Você não participa mais deste lojista.',
    refusals: {
      INVITATION_NOT_FOUND: 'Este convite não existe, ou é para outra pessoa.',
      INVITATION_STATE: 'Este convite não está mais aberto. Peça outro a um administrador.',
      MEMBER_NOT_FOUND: 'Você já não participa deste lojista.',
      LAST_ADMIN:
        'Você é a única pessoa na administração deste lojista. Dê esse papel a outra pessoa antes de sair.',
    },
  },
  en: {
    title: 'Merchants',
    lead: 'Choose where to work. The sandbox moves no money.',
    merchant: 'Merchant',
    role: 'Your role:',
    live: 'Live',
    sandbox: 'Sandbox',
    none: (email: string) =>
      `You are not a member of any merchant yet. Ask an administrator to invite ${email}.`,
    noAddress:
      'You are not a member of any merchant yet, and your identity provider told no address at which somebody could invite you.',
    invitations: 'Invitations',
    invited: 'You are invited as',
    until: 'Open until',
    accept: 'Accept',
    leave: 'Leave this merchant',
    leaveText: 'You lose access at once. To come back you need a new invitation.',
    left: 'You are not a member of this merchant any more.',
    refusals: {
      INVITATION_NOT_FOUND: 'There is no such invitation, or it is somebody else’s.',
      INVITATION_STATE: 'This invitation is not open any more. Ask an administrator for another.',
      MEMBER_NOT_FOUND: 'You are not a member of this merchant any more.',
      LAST_ADMIN:
        'You are the only administrator of this merchant. Give somebody else that role before you leave.',
    },
  },
};
