import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'
import { type Html, problemText, sendPage, template } from '../../../core/http/html-page.ts'

type DeviceFlow = NonNullable<NonNullable<Configuration['features']>['deviceFlow']>
type Pages = Pick<DeviceFlow, 'userCodeInputSource' | 'userCodeConfirmSource' | 'successSource'>
type Problem = Pick<Error, 'name' | 'message'>

/** Data of both forms: their target, and the CSRF secret, which proves that a form belongs to its page. */
interface Form {
  readonly action: string
  readonly xsrf: string
}
const FORM = `<form method="post" action="<%= it.action %>"><input type="hidden" name="xsrf" value="<%= it.xsrf %>">`

const confirmTemplate = template<
  Form & { client: string | undefined; ip: string | undefined; userCode: string }
>(`<p><%= it.client %><% if (it.ip) { %> from <%= it.ip %><% } %> requests to sign in as you. It shows this code:</p>
<p class="code"><b><%= it.userCode %></b></p>
<p><small>Continue only if you started this sign-in yourself and the code is the same. The command line can then use the
platform as you.</small></p>
${FORM}
<input type="hidden" name="user_code" value="<%= it.userCode %>">
<p class="actions"><button class="primary" name="confirm" value="yes">Yes, continue</button>
<button name="abort" value="yes">No, reject it</button></p>
</form>`)

const codeTemplate = template<Form & { problem: Html | undefined }>(`<%= it.problem %>
${FORM}
<label for="code">The code that the command line shows</label>
<div class="line"><input id="code" name="user_code" required maxlength="20" autocomplete="off" autofocus>
<button class="primary">Continue</button></div>
</form>`)

const successTemplate = template('<p>Close this page and return to your terminal.</p>')
const rejectedTemplate = template('<p>You rejected the sign-in. The command line is not signed in.</p>')

/** The development provider's pages for the device flow (RFC 8628): enter the code, confirm it, success. */
export const devicePages: Pages = {
  userCodeInputSource: async (http, _form, _out, problem) => sendCodePage(http, problem),
  userCodeConfirmSource: async (http, _form, client, info, userCode) => {
    sendPage(http, {
      status: 200,
      title: 'Is this your command line?',
      body: confirmTemplate({
        ...formOf(http),
        client: client.clientName ?? client.clientId,
        ip: typeof info.ip === 'string' ? info.ip : undefined,
        userCode,
      }),
    })
  },
  successSource: async (http) =>
    sendPage(http, {
      status: 200,
      title: 'The command line is signed in',
      body: successTemplate({}),
    }),
}

function sendCodePage(http: KoaContextWithOIDC, problem: Problem | undefined): void {
  if (problem?.name === 'AbortedError') {
    return sendPage(http, { status: 200, title: 'Sign-in rejected', body: rejectedTemplate({}) })
  }
  sendPage(http, {
    status: problem ? 400 : 200,
    title: 'Sign in a command line',
    body: codeTemplate({
      ...formOf(http),
      problem: problem && problemText({ text: messages[problem.name] ?? problem.message }),
    }),
  })
}

const messages: Readonly<Record<string, string>> = {
  NoCodeError: 'Enter the code that the command line shows.',
  NotFoundError: 'This code does not exist. Check the code that the command line shows.',
  ExpiredError: 'This code has expired. Start the sign-in again at the command line.',
  AlreadyUsedError: 'This code has already been used. Start the sign-in again at the command line.',
}

function formOf(http: KoaContextWithOIDC): Form {
  const secret = http.oidc.session?.state?.secret
  return { action: http.oidc.urlFor('code_verification'), xsrf: typeof secret === 'string' ? secret : '' }
}
