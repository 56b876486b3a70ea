import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { callFor } from '../../clients.ts';
import { callAsPerson } from '../dashboard-clients.ts';
import { ownFormHooks } from '../session/own-form.ts';
import { failureOf } from '../shell/failures.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { sendPage } from '../shell/layout.ts';
import { ID } from '../shell/pages.ts';
import { homePage } from './home.page.ts';
import { homeTexts } from './home.texts.ts';

const id = () => Type.String({ pattern: ID.source });
const body = Type.Object({ _key: id() });
const querystring = Type.Object({ page: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })) });

/**
 * The home page: a person's merchants and invitations. The actions concern only themselves, so they require no role. A
 * role applies to both environments; changes to it are recorded in the audit trail of live.
 */
export function homePages({ app, guard, clients: { accounts } }: FeatureDependencies): void {
  const ownForm = ownFormHooks(guard);
  const { onRequest } = ownForm;

  app.get('/', { onRequest, schema: { querystring } }, async (request, reply) => {
    const person = request.person!;
    const { accountId } = person;
    const { invitations } = await accounts.listAccountInvitations({ accountId }, callFor(request));
    const view = guard.plainViewOf(request);
    return sendPage(reply, view, homePage(view, person, invitations, request.query.page ?? 0));
  });

  app.post(
    '/invitations/:merchantId/:invitationId/accept',
    { ...ownForm, schema: { body, params: Type.Object({ merchantId: id(), invitationId: id() }) } },
    async (request, reply) => {
      const { merchantId, invitationId } = request.params;
      await withRefusals(
        accounts.acceptInvitation({ ...writeOf(request), invitationId }, callAsPerson(request)),
      );
      return reply.redirect(`/live/${merchantId}`, 303);
    },
  );

  app.post(
    '/merchants/:merchantId/leave',
    { ...ownForm, schema: { body, params: Type.Object({ merchantId: id() }) } },
    async (request, reply) => {
      await withRefusals(accounts.removeMember(writeOf(request), callAsPerson(request)));
      return reply.redirect('/?notice=left', 303);
    },
  );
}

interface OwnForm extends Pick<FastifyRequest, 'person'> {
  readonly params: { readonly merchantId: string };
  readonly body: { readonly _key: string };
}

/** The request of a write that concerns only the signed-in person. */
const writeOf = ({ params: { merchantId }, body: { _key }, person }: OwnForm) => ({
  merchantId,
  environment: Environment.LIVE,
  idempotencyKey: _key,
  accountId: person!.accountId,
});

/** Gives a refused call its message from the home page's texts. */
const withRefusals = <T>(call: Promise<T>): Promise<T> =>
  call.catch((error) => {
    throw failureOf(error, homeTexts);
  });
