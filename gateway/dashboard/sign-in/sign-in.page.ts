import { notice } from '../shell/components.ts';
import { failureTexts } from '../shell/failures.texts.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { type Page, type PlainView, textsFor } from '../shell/view.ts';
import { signInTexts } from './sign-in.texts.ts';
import type { SignInFault } from './sign-in-faults.ts';

interface SignIn {
  readonly providerName: string;
  readonly returnPath: string;
  /** What the missing session interrupted: a form, which was not accepted, or a page. */
  readonly interrupted: 'form' | 'page' | undefined;
}

/** The sign-in page. It links to the provider, as the content security policy forbids forms to redirect there. */
export function signInPage(view: PlainView, { providerName, returnPath, interrupted }: SignIn): Page {
  const t = textsFor(view, signInTexts);
  const ended = interrupted && notice('busy', interrupted === 'form' ? t.unsent : t.ended);
  return {
    title: t.signIn,
    body: html`${ended ?? html`<p>${t.lead}</p>`}
<p>${startLink(t.withProvider(providerName), returnPath)}</p>
<p class="hint">${t.next}</p>`,
  };
}

/** Explains why the sign-in failed, with a link to try again. */
export function faultPage(view: PlainView, fault: SignInFault, requestId: string): Page {
  const t = textsFor(view, signInTexts);
  return {
    title: t.failed,
    body: html`<p role="alert">${t[fault]}</p>
<p>${startLink(t.tryAgain, '/')}</p>
<p class="hint">${textsFor(view, failureTexts).reference} <code>${requestId}</code></p>`,
  };
}

interface SignedOut {
  /** Whether all of the person's sessions ended. */
  readonly everywhere: boolean;
  readonly providerName: string;
  /** The provider's own sign-out URL, if it has one. */
  readonly endSessionUrl: string | undefined;
}

export function signedOutPage(view: PlainView, { everywhere, providerName, endSessionUrl }: SignedOut): Page {
  const t = textsFor(view, signInTexts);
  return {
    title: t.signedOut,
    body: html`<p>${everywhere ? t.signedOutEverywhere : t.signedOutText}</p>
<p>${startLink(t.again, '/')}</p>
${endSessionUrl ? html`<p>${t.atProvider} <a href="${endSessionUrl}">${t.signOutThere(providerName)}</a></p>` : nothing}`,
  };
}

const startLink = (text: string, returnPath: string): Html =>
  html`<a class="button" href="/sign-in/start?return=${encodeURIComponent(returnPath)}">${text}</a>`;
