export const membersTexts = {
  'pt-BR': {
    title: 'Equipe',
    lead: 'Os papéis valem em produção e no ambiente de testes. Cada ambiente tem seu próprio contato.',
    members: 'Membros desta empresa',
    person: 'Pessoa',
    you: 'você',
    unverified: 'e-mail não verificado',
    noAddress: 'sem e-mail',
    role: 'Papel',
    roleOf: (who: string) => `Papel de ${who}`,
    since: 'Desde',
    action: 'Ação',
    save: 'Salvar',
    remove: 'Remover',
    removeText: (who: string) =>
      `${who} perde o acesso imediatamente nos dois ambientes. As chaves de API criadas por essa pessoa continuam válidas. Um contato com o e-mail dela é removido.`,
    none: 'Nenhum membro nesta página.',
    invite: 'Convidar membro',
    email: 'E-mail',
    emailHint: 'O convite vale para quem entrar com este e-mail verificado pelo provedor de identidade.',
    sendInvitation: 'Convidar',
    invitations: 'Convites pendentes',
    invitationsHint: 'Convites que ainda podem ser aceitos',
    noInvitations: 'Nenhum convite pendente.',
    allInvitations: 'Ver todos os convites pendentes',
    until: 'Válido até',
    revoke: 'Cancelar convite',
    contact: 'Contato',
    contactLead:
      'Para onde enviamos e-mails quando um endpoint de webhook precisa de atenção neste ambiente.',
    contactFallback: (emails: string) =>
      `Sem contato definido, escrevemos para os administradores e desenvolvedores: ${emails}.`,
    contactMissing:
      'Não enviamos e-mails: não há contato definido, nem administrador ou desenvolvedor com e-mail verificado que queira recebê-los.',
    contactHint: 'Deixe em branco para escrevermos aos administradores e desenvolvedores.',
    language: 'Idioma dos e-mails',
    saveContact: 'Salvar contato',
    back: 'Voltar para Equipe',
    notices: {
      role: 'Papel alterado.',
      removed: 'Membro removido.',
      invited:
        'Convite criado, válido por sete dias. Avise a pessoa: ela o encontra na página inicial ao entrar com este e-mail.',
      revoked: 'Convite cancelado.',
      contact: 'Contato salvo.',
    },
    emailFault: 'Informe um e-mail completo, como ana@loja.com.br.',
    refusals: {
      LAST_ADMIN:
        'Esta pessoa é a única administradora desta empresa. Antes, torne outra pessoa administradora.',
      MEMBER_NOT_FOUND: 'Esta pessoa não é membro desta empresa.',
      MEMBER_ALREADY_EXISTS: 'Já há um membro com este e-mail.',
      MEMBER_LIMIT_REACHED:
        'Uma empresa pode ter no máximo 500 membros e convites pendentes. Remova um membro ou cancele um convite.',
      INVITATION_LIMIT_REACHED:
        'Muitos convites em 24 horas, ao todo ou para este e-mail. Tente novamente amanhã.',
      INVITATION_NOT_FOUND: 'Este convite não existe.',
      INVITATION_STATE: 'Este convite já foi aceito. Se necessário, remova o membro.',
    },
  },
  en: {
    title: 'Team',
    lead: 'Roles apply to both live and sandbox. Each environment has its own contact.',
    members: 'Members of this merchant',
    person: 'Person',
    you: 'you',
    unverified: 'email not verified',
    noAddress: 'no email',
    role: 'Role',
    roleOf: (who: string) => `Role of ${who}`,
    since: 'Since',
    action: 'Action',
    save: 'Save',
    remove: 'Remove',
    removeText: (who: string) =>
      `${who} loses access immediately, in both environments. API keys created by this person stay valid. A contact with their email is removed.`,
    none: 'No members on this page.',
    invite: 'Invite a member',
    email: 'Email',
    emailHint:
      'The invitation is for the person who signs in with this email, verified by the identity provider.',
    sendInvitation: 'Invite',
    invitations: 'Pending invitations',
    invitationsHint: 'Invitations that can still be accepted',
    noInvitations: 'No pending invitations.',
    allInvitations: 'View all pending invitations',
    until: 'Valid until',
    revoke: 'Cancel invitation',
    contact: 'Contact',
    contactLead: 'Where we send emails when a webhook endpoint in this environment needs attention.',
    contactFallback: (emails: string) =>
      `No contact is set, so we email the administrators and developers: ${emails}.`,
    contactMissing:
      'We do not send emails: no contact is set, and no administrator or developer with a verified email wants them.',
    contactHint: 'Leave empty to email the administrators and developers.',
    language: 'Email language',
    saveContact: 'Save contact',
    back: 'Back to Team',
    notices: {
      role: 'Role changed.',
      removed: 'Member removed.',
      invited:
        'Invitation created, valid for seven days. Tell the person: they find it on the home page after signing in with this email.',
      revoked: 'Invitation canceled.',
      contact: 'Contact saved.',
    },
    emailFault: 'Enter a complete email address, such as ana@shop.com.',
    refusals: {
      LAST_ADMIN:
        'This is the only administrator of this merchant. Make someone else an administrator first.',
      MEMBER_NOT_FOUND: 'This person is not a member of this merchant.',
      MEMBER_ALREADY_EXISTS: 'There is already a member with this email.',
      MEMBER_LIMIT_REACHED:
        'A merchant can have at most 500 members and pending invitations. Remove a member or cancel an invitation.',
      INVITATION_LIMIT_REACHED:
        'Too many invitations within 24 hours, in total or to this email. Try again tomorrow.',
      INVITATION_NOT_FOUND: 'This invitation does not exist.',
      INVITATION_STATE: 'This invitation has already been accepted. Remove the member if necessary.',
    },
  },
};
