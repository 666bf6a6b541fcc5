import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'
import { type Html, html, sendPage } from '../../../core/http/html-page.ts'

type DeviceFlow = NonNullable<NonNullable<Configuration['features']>['deviceFlow']>
type Pages = Pick<DeviceFlow, 'userCodeInputSource' | 'userCodeConfirmSource' | 'successSource'>
type Problem = Pick<Error, 'name' | 'message'>

/** The development provider's pages for signing in a command line, RFC 8628: ask for the code, confirm it, done. */
export const devicePages: Pages = {
  userCodeInputSource: async (http, _form, _out, problem) => askForCode(http, problem),
  userCodeConfirmSource: async (http, _form, client, info, userCode) => {
    const requester = typeof info.ip === 'string' ? html` from ${info.ip}` : html``
    sendPage(http, {
      status: 200,
      title: 'Is this your command line?',
      body: html`<p>${client.clientName ?? client.clientId}${requester} asks to be signed in. It shows this code:</p>
<p><b>${userCode}</b></p>
<p><small>Go on only if you have just asked for this yourself and the code is the same: whoever it belongs to may act
as you.</small></p>
<form method="post" action="${actionOf(http)}">${xsrfField(http)}
<input type="hidden" name="user_code" value="${userCode}">
<button name="confirm" value="yes">Yes, go on</button>
<button name="abort" value="yes">No, refuse it</button>
</form>`,
    })
  },
  successSource: async (http) =>
    sendPage(http, {
      status: 200,
      title: 'The command line is signed in',
      body: html`<p>Close this page and go back to your terminal.</p>`,
    }),
}

function askForCode(http: KoaContextWithOIDC, problem: Problem | undefined): void {
  if (problem?.name === 'AbortedError') {
    const body = html`<p>The command line was refused, and is not signed in.</p>`
    return sendPage(http, { status: 200, title: 'Refused', body })
  }
  const problemText = problem
    ? html`<p class="problem">${messages[problem.name] ?? problem.message}</p>`
    : html``
  sendPage(http, {
    status: problem ? 400 : 200,
    title: 'Sign in a command line',
    body: html`${problemText}
<form method="post" action="${actionOf(http)}">${xsrfField(http)}
<label>The code that it shows
<input name="user_code" required maxlength="20" autocomplete="off" autofocus></label>
<button>Go on</button>
</form>`,
  })
}

const messages: Readonly<Record<string, string>> = {
  NoCodeError: 'Type the code that the command line shows.',
  NotFoundError: 'There is no such code.',
  ExpiredError: 'That code has expired: ask the command line for another one.',
  AlreadyUsedError: 'That code has been used.',
}

const actionOf = (http: KoaContextWithOIDC) => http.oidc.urlFor('code_verification')

/** What proves that the form is our own page's. */
function xsrfField(http: KoaContextWithOIDC): Html {
  const secret = http.oidc.session?.state?.secret
  return html`<input type="hidden" name="xsrf" value="${typeof secret === 'string' ? secret : ''}">`
}
