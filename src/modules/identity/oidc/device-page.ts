import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'
import { type Html, html, sendPage } from '../../../core/http/html-page.ts'

type DeviceFlow = NonNullable<NonNullable<Configuration['features']>['deviceFlow']>
type Pages = Pick<DeviceFlow, 'userCodeInputSource' | 'userCodeConfirmSource' | 'successSource'>
type Problem = Pick<Error, 'name' | 'message'>

/** The development provider's pages for the device flow (RFC 8628): enter the code, confirm it, success. */
export const devicePages: Pages = {
  userCodeInputSource: async (http, _form, _out, problem) => sendCodePage(http, problem),
  userCodeConfirmSource: async (http, _form, client, info, userCode) => {
    const requester = typeof info.ip === 'string' ? html` from ${info.ip}` : html``
    sendPage(http, {
      status: 200,
      title: 'Is this your command line?',
      body: html`<p>${client.clientName ?? client.clientId}${requester} requests to sign in as you. It shows this code:</p>
<p><b>${userCode}</b></p>
<p><small>Continue only if you started this sign-in yourself and the code is the same. The command line can then use the
platform as you.</small></p>
<form method="post" action="${actionOf(http)}">${xsrfField(http)}
<input type="hidden" name="user_code" value="${userCode}">
<button name="confirm" value="yes">Yes, continue</button>
<button name="abort" value="yes">No, reject it</button>
</form>`,
    })
  },
  successSource: async (http) =>
    sendPage(http, {
      status: 200,
      title: 'The command line is signed in',
      body: html`<p>Close this page and return to your terminal.</p>`,
    }),
}

function sendCodePage(http: KoaContextWithOIDC, problem: Problem | undefined): void {
  if (problem?.name === 'AbortedError') {
    const body = html`<p>You rejected the sign-in. The command line is not signed in.</p>`
    return sendPage(http, { status: 200, title: 'Sign-in rejected', body })
  }
  const problemText = problem
    ? html`<p class="problem">${messages[problem.name] ?? problem.message}</p>`
    : html``
  sendPage(http, {
    status: problem ? 400 : 200,
    title: 'Sign in a command line',
    body: html`${problemText}
<form method="post" action="${actionOf(http)}">${xsrfField(http)}
<label>The code that the command line shows
<input name="user_code" required maxlength="20" autocomplete="off" autofocus></label>
<button>Continue</button>
</form>`,
  })
}

const messages: Readonly<Record<string, string>> = {
  NoCodeError: 'Enter the code that the command line shows.',
  NotFoundError: 'This code does not exist. Check the code that the command line shows.',
  ExpiredError: 'This code has expired. Start the sign-in again at the command line.',
  AlreadyUsedError: 'This code has already been used. Start the sign-in again at the command line.',
}

const actionOf = (http: KoaContextWithOIDC) => http.oidc.urlFor('code_verification')

/** Renders the hidden field with the CSRF secret, which proves that the form belongs to this page. */
function xsrfField(http: KoaContextWithOIDC): Html {
  const secret = http.oidc.session?.state?.secret
  return html`<input type="hidden" name="xsrf" value="${typeof secret === 'string' ? secret : ''}">`
}
