export const homeTexts = {
  'pt-BR': {
    title: 'Empresas',
    lead: 'Escolha onde quer trabalhar. O ambiente de testes não movimenta dinheiro.',
    merchant: 'Empresa',
    role: 'Seu papel:',
    none: (email: string) =>
      `Você ainda não é membro de nenhuma empresa. Peça a um administrador que convide ${email}.`,
    noAddress:
      'Você ainda não é membro de nenhuma empresa, e seu provedor de identidade não informou um e-mail para receber convites.',
    invitations: 'Convites',
    invited: 'Você foi convidado como',
    until: 'Válido até',
    accept: 'Aceitar',
    leave: 'Deixar esta empresa',
    leaveText: 'Você perde o acesso imediatamente. Para voltar, precisará de um novo convite.',
    left: 'Você não é mais membro desta empresa.',
    toTeam: 'Ver equipe',
    refusals: {
      INVITATION_NOT_FOUND: 'Este convite não existe ou é para outra pessoa.',
      INVITATION_STATE: 'Este convite não é mais válido. Peça outro a um administrador.',
      MEMBER_NOT_FOUND: 'Você não é mais membro desta empresa.',
      LAST_ADMIN:
        'Você é a única pessoa administradora desta empresa. Antes de sair, torne outra pessoa administradora.',
    },
  },
  en: {
    title: 'Merchants',
    lead: 'Choose where to work. The sandbox does not move real money.',
    merchant: 'Merchant',
    role: 'Your role:',
    none: (email: string) =>
      `You are not a member of any merchant yet. Ask an administrator to invite ${email}.`,
    noAddress:
      'You are not a member of any merchant yet, and your identity provider did not share an email address for invitations.',
    invitations: 'Invitations',
    invited: 'You are invited as',
    until: 'Valid until',
    accept: 'Accept',
    leave: 'Leave this merchant',
    leaveText: 'You lose access immediately. To come back, you need a new invitation.',
    left: 'You are no longer a member of this merchant.',
    toTeam: 'View team',
    refusals: {
      INVITATION_NOT_FOUND: 'This invitation does not exist, or is for someone else.',
      INVITATION_STATE: 'This invitation is no longer valid. Ask an administrator for another one.',
      MEMBER_NOT_FOUND: 'You are no longer a member of this merchant.',
      LAST_ADMIN:
        'You are the only administrator of this merchant. Make someone else an administrator before you leave.',
    },
  },
};
