import { Role } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';

/** Somebody whom the local OpenID provider vouches for. */
export interface DemoPerson {
  /** Never changes. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  /** At both demo merchants. */
  readonly role: Role;
}

/** Who works with the demo data; the first is in demo.json. */
export const DEMO_PEOPLE = [
  { subject: 'ana', email: 'ana@demo.example', name: 'Ana Souza', role: Role.ADMIN },
  { subject: 'vera', email: 'vera@demo.example', name: 'Vera Lima', role: Role.VIEWER },
] as const satisfies readonly DemoPerson[];
