import { Role } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';

/** A person who can sign in at the local OpenID provider. */
export interface DemoPerson {
  /** The OpenID subject, which never changes. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  /** The role at both demo merchants. */
  readonly role: Role;
}

/** Members of the demo merchants. demo.json has the first one's email and password. */
export const DEMO_PEOPLE = [
  { subject: 'ana', email: 'ana@demo.example', name: 'Ana Souza', role: Role.ADMIN },
  { subject: 'caio', email: 'caio@demo.example', name: 'Caio Prado', role: Role.FINANCE },
  { subject: 'vera', email: 'vera@demo.example', name: 'Vera Lima', role: Role.VIEWER },
] as const satisfies readonly DemoPerson[];
