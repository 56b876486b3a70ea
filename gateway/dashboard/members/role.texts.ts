import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { type PlainView, textsFor } from '../shell/view.ts';

/** Roles by form value, from the least to the most powerful. */
export const ROLES = {
  viewer: Role.VIEWER,
  finance: Role.FINANCE,
  developer: Role.DEVELOPER,
  admin: Role.ADMIN,
} as const;

export type RoleName = keyof typeof ROLES;

export const ROLE_NAMES = Object.keys(ROLES) as RoleName[];

export const roleTexts = {
  'pt-BR': {
    viewer: 'Visualizador',
    finance: 'Financeiro',
    developer: 'Desenvolvedor',
    admin: 'Administrador',
    hints: {
      viewer: 'vê tudo, exceto chaves de API, equipe e auditoria',
      finance: 'também decide reembolsos, responde a disputas e solicita antecipações; não vê webhooks',
      developer:
        'decide reembolsos, responde a disputas, solicita antecipações e gerencia webhooks, chaves de API e o ambiente de testes',
      admin: 'também gerencia a equipe e o contato, e vê a auditoria',
    },
  },
  en: {
    viewer: 'Viewer',
    finance: 'Finance',
    developer: 'Developer',
    admin: 'Administrator',
    hints: {
      viewer: 'can view everything except API keys, the team and the audit trail',
      finance: 'can also decide refunds, respond to disputes and request advances; does not see webhooks',
      developer:
        'can decide refunds, respond to disputes, request advances, and manage webhooks, API keys and the sandbox',
      admin: 'can also manage the team and the contact, and view the audit trail',
    },
  },
};

/** The form value of a role; that of the least powerful for an unknown one. */
export const roleName = (role: Role): RoleName => ROLE_NAMES.find((name) => ROLES[name] === role) ?? 'viewer';

export function roleOptions(view: PlainView): (readonly [RoleName, string])[] {
  const t = textsFor(view, roleTexts);
  return ROLE_NAMES.map((name) => [name, t[name]]);
}
