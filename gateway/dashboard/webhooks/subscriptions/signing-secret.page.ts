import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type {
  SigningSecretStatus,
  WebhookSubscription,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { dataTable, field, form, moment, notice, select } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { shownOnce } from '../../shell/shown-once.ts';
import { type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { endpointBreadcrumb } from '../breadcrumbs.ts';
import { webhookGuide } from '../guide-links.ts';
import { signingSecretTexts } from './signing-secret.texts.ts';

type Subscription = Pick<WebhookSubscription, 'id' | 'url'>;

const DEFAULT_OVERLAP_S = '86400';

/** The response to a creation: with the secret the first time; undefined when the form is resubmitted. */
export function createdPage(view: View, subscription: Subscription, secret: string | undefined): Page {
  const t = textsFor(view, signingSecretTexts);
  if (secret === undefined) return alreadyShownPage(view, subscription, t.createdBefore);
  return { title: t.created, body: secretShown(view, subscription, secret) };
}

/** The response to revealing the secret of a subscription that was created over the API. */
export function revealedPage(view: View, subscription: Subscription, secret: string | undefined): Page {
  const t = textsFor(view, signingSecretTexts);
  if (secret === undefined) return alreadyShownPage(view, subscription);
  return { title: t.title, body: secretShown(view, subscription, secret) };
}

/** The response to a rotation; `overlapEndsAt` is undefined when only the new secret signs. */
export function rotatedPage(
  view: View,
  subscription: Subscription,
  secret: string | undefined,
  overlapEndsAt: Timestamp | undefined,
): Page {
  const t = textsFor(view, signingSecretTexts);
  if (secret === undefined) return alreadyShownPage(view, subscription, t.rotatedBefore);
  const overlap = overlapEndsAt
    ? html`<p>${t.overlapUntil} <strong>${moment(view, overlapEndsAt)}</strong>.</p>`
    : html`<p>${t.onlyNew}</p>`;
  return { title: t.rotated, body: html`${secretShown(view, subscription, secret)}${overlap}` };
}

/** Offers to reveal the current secret, unless it has been shown. */
export function revealPage(
  view: View,
  subscription: Subscription,
  secrets: readonly SigningSecretStatus[],
): Page {
  const t = textsFor(view, signingSecretTexts);
  if (isShown(secrets)) return alreadyShownPage(view, subscription);
  return {
    title: t.title,
    body: html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb(subscription))}<p>${t.neverShown}</p>${revealForm(view, subscription)}`,
  };
}

/** The form to rotate the secret; `fault` says why it was rejected. */
export function rotatePage(
  view: View,
  subscription: Subscription,
  secrets: readonly SigningSecretStatus[],
  fault?: string,
): Page {
  const t = textsFor(view, signingSecretTexts);
  const choice = field(
    { name: 'overlap_seconds', label: t.overlap, hint: t.overlapHint, fault },
    select(Object.entries(t.overlaps), DEFAULT_OVERLAP_S),
  );
  const action = `/webhooks/${subscription.id}/rotate`;
  return {
    title: t.rotate,
    body: html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb(subscription))}
<p>${t.rotateText}</p>
${form(view, { action, submit: t.rotate, fields: choice })}
${secretTable(view, secrets)}`,
  };
}

/** The status of the secrets that sign; never the secrets themselves. */
export function secretTable(view: View, secrets: readonly SigningSecretStatus[]): Html {
  const t = textsFor(view, signingSecretTexts);
  return dataTable<SigningSecretStatus>(
    t.status,
    [
      { label: t.secret, cell: ({ signsUntil }) => (signsUntil ? t.previous : t.current) },
      { label: t.createdAt, cell: ({ createdAt }) => moment(view, createdAt) },
      { label: t.shown, cell: ({ revealedAt }) => (revealedAt ? moment(view, revealedAt) : t.notShown) },
      { label: t.until, cell: ({ signsUntil }) => (signsUntil ? moment(view, signsUntil) : t.noEnd) },
    ],
    secrets,
    '',
  );
}

/** The button that reveals a secret for the first time. */
export function revealForm(view: View, { id }: Pick<Subscription, 'id'>): Html {
  const t = textsFor(view, signingSecretTexts);
  return form(view, { action: `/webhooks/${id}/reveal`, submit: t.show });
}

/** Whether the current secret has been revealed. */
export function isShown(secrets: readonly SigningSecretStatus[]): boolean {
  return secrets.some(({ signsUntil, revealedAt }) => !signsUntil && revealedAt !== undefined);
}

/** The secret itself. Not a live region: a stream must never contain it. */
function secretShown(view: View, { id, url }: Subscription, secret: string): Html {
  const t = textsFor(view, signingSecretTexts);
  return html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb({ id, url }))}
${shownOnce(view, html`<p><strong>${t.once}</strong> ${t.onceMore}</p>`, secret)}
${webhookGuide(view, 'verifying')}
<p><a class="button" href="${pathTo(view, `/webhooks/${id}`)}">${t.continue}</a></p>`;
}

function alreadyShownPage(view: View, subscription: Subscription, done?: string): Page {
  const t = textsFor(view, signingSecretTexts);
  const { id } = subscription;
  return {
    title: t.title,
    body: html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb(subscription))}
${notice('busy', html`<p>${done ?? nothing} ${t.shownAlready} ${t.lost}</p>`)}
<p class="row"><a class="button" href="${pathTo(view, `/webhooks/${id}/rotate`)}">${t.rotate}</a>
<a class="button plain" href="${pathTo(view, `/webhooks/${id}`)}">${t.back}</a></p>`,
  };
}
