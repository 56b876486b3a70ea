import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { type PlainView, textsFor } from '../shell/view.ts';

/** The roles as forms name them, from the least to the most powerful. */
export const ROLES = { viewer: Role.VIEWER, developer: Role.DEVELOPER, admin: Role.ADMIN } as const;

export type RoleName = keyof typeof ROLES;

export const ROLE_NAMES = ['viewer', 'developer', 'admin'] as const satisfies RoleName[];

export const roleTexts = {
  'pt-BR': {
    viewer: 'Leitura',
    developer: 'Desenvolvimento',
    admin: 'Administração',
    hints: {
      viewer: 'vê tudo, menos chaves, pessoas e auditoria',
      developer: 'também trabalha com webhooks, chaves de API, reembolsos, antecipações e testes',
      admin: 'também cuida das pessoas e do contato, e lê a auditoria',
    },
  },
  en: {
    viewer: 'Viewer',
    developer: 'Developer',
    admin: 'Administrator',
    hints: {
      viewer: 'sees everything but keys, people and the audit trail',
      developer: 'also works with webhooks, API keys, refunds, advances and the sandbox',
      admin: 'also manages people and the contact, and reads the audit trail',
    },
  },
};

/** The name under which forms know a role. */
export function roleName(role: Role): RoleName {
  switch (role) {
    case Role.VIEWER:
    case Role.UNSPECIFIED:
      return 'viewer';
    case Role.DEVELOPER:
      return 'developer';
    case Role.ADMIN:
      return 'admin';
    default:
      return role satisfies never;
  }
}

/** The roles to choose from. */
export function roleOptions(view: PlainView): (readonly [RoleName, string])[] {
  const t = textsFor(view, roleTexts);
  return ROLE_NAMES.map((name) => [name, t[name]]);
}
