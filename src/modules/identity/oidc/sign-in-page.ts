import type { Context, Middleware } from 'koa'
import type { Provider } from 'oidc-provider'
import { AppError, badRequest, notAllowed } from '../../../core/errors/errors.ts'
import { type Html, problemText, sendPage, template } from '../../../core/http/html-page.ts'
import { type DevAccount, DevEmail } from './dev-account.ts'

/** Largest form of the built-in sign-in. */
const FORM_LIMIT_BYTES = 4_096

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>

const signInTemplate = template<{
  problem: Html | undefined
  insecure: boolean
  client: string
  accounts: readonly (DevAccount & { initials: string })[]
}>(`<%= it.problem %><% if (it.insecure) { %>
<p class="problem"><b>Warning: this platform is open to the network.</b>
Everyone who can connect to it can sign in as any account, including admins. Use it with test data only.</p><% } %>
<p class="dimmed">Choose who you are: this development provider signs everyone in without a password, and does not run in production.</p>
<% if (it.accounts.length > 0) { %><form method="post" class="people"><% for (const { email, name, role, hint, initials } of it.accounts) { %>
<button name="email" value="<%= email %>"><span class="initials" aria-hidden="true"><%= initials %></span>
<span><b><%= name %></b> <small><span class="role"><%= role %></span>, <%= hint %></small></span></button>
<% } %></form><% } %>
<form method="post">
<label for="email">Any other e-mail address</label>
<div class="line"><input id="email" type="email" name="email" required maxlength="200" autocomplete="username" placeholder="ada@example.com">
<button<% if (it.accounts.length === 0) { %> class="primary"<% } %>>Sign in</button></div>
</form>
<form method="post"><p class="dimmed"><small>For <%= it.client %> · <button class="quiet" name="cancel" value="1">Cancel</button></small></p></form>`)

/** Returns the first letters of the first and the last word of a name. */
function initialsOf(name: string): string {
  const words = name.match(/\p{L}[^\s]*/gu) ?? []
  return [words.at(0), words.length > 1 ? words.at(-1) : ''].map((word) => word?.slice(0, 1)).join('')
}

/** Serves the development provider's sign-in page, which offers the accounts and accepts any e-mail address. */
export function signInPage(deps: {
  provider: Provider
  mountPath: string
  accounts: readonly DevAccount[]
  /** Whether other machines can open this page. */
  insecure: boolean
}): Middleware {
  const { provider } = deps
  const prefix = `${deps.mountPath}/interaction/`
  return async (http, next) => {
    if (!http.path.startsWith(prefix)) return await next()
    const interaction = await currentInteraction(provider, http)
    if (interaction.uid !== http.path.slice(prefix.length)) throw expired()
    const account = http.method === 'GET' ? hintedAccount(http, interaction, deps.accounts) : undefined
    if (account) return await finish(provider, http, interaction, { login: { accountId: account.email } })
    if (http.method === 'GET' || http.method === 'HEAD') return sendSignInPage(http, interaction, deps)
    if (http.method !== 'POST') {
      throw notAllowed(http.method, ['GET', 'HEAD', 'POST'])
    }
    const form = await readForm(http)
    if (form.has('cancel')) return await finish(provider, http, interaction, { error: 'access_denied' })
    const email = DevEmail.safeParse(form.get('email') ?? '')
    if (!email.success)
      return sendSignInPage(
        http,
        interaction,
        deps,
        'This is not an e-mail address. Enter one such as ada@example.com.',
      )
    await finish(provider, http, interaction, { login: { accountId: email.data } })
  }
}

const expired = () =>
  badRequest('This sign-in has expired or belongs to another browser. Start again.', 'sign_in_expired')

async function currentInteraction(provider: Provider, http: Context): Promise<Interaction> {
  return await provider.interactionDetails(http.req, http.res).catch(() => {
    throw expired()
  })
}

/**
 * Returns the offered account that the authorization request names, so that one click on the front page starts the demo.
 * Only pages of this platform may choose the account: the browser reports whether another site took part in any redirect.
 */
function hintedAccount(
  http: Context,
  { params }: Interaction,
  accounts: readonly DevAccount[],
): DevAccount | undefined {
  if (http.get('Sec-Fetch-Site') !== 'same-origin') return undefined
  return accounts.find(({ email }) => email === params.login_hint)
}

function sendSignInPage(
  http: Context,
  interaction: Interaction,
  { accounts, insecure }: { accounts: readonly DevAccount[]; insecure: boolean },
  problem?: string,
): void {
  const client = String(interaction.params.client_id)
  const redirectUri = interaction.params.redirect_uri // undefined in the device flow
  sendPage(http, {
    status: problem ? 400 : 200,
    title: 'Sign in to Wheelhouse',
    ...(typeof redirectUri === 'string' && { formTargets: [new URL(redirectUri).origin] }),
    body: signInTemplate({
      problem: problem === undefined ? undefined : problemText({ text: problem }),
      insecure,
      client,
      accounts: accounts.map((account) => ({ ...account, initials: initialsOf(account.name) })),
    }),
  })
}

/** Records the result and redirects the browser back to the authorization request. */
async function finish(
  provider: Provider,
  http: Context,
  interaction: Interaction,
  result: NonNullable<Interaction['result']>,
): Promise<void> {
  const { session } = interaction
  if (session && result.login && session.accountId !== result.login.accountId) {
    // The account changed, so the old session ends here. The provider would end it through its own page, whose
    // Content-Security-Policy blocks the redirect to a command line's loopback address.
    const previousSession = await provider.Session.findByUid(session.uid)
    await previousSession?.destroy()
    delete interaction.session
  }
  interaction.result = result
  await interaction.save(interaction.exp - Math.floor(Date.now() / 1000))
  http.status = 303
  http.redirect(interaction.returnTo)
}

async function readForm(http: Context): Promise<URLSearchParams> {
  if (!http.is('application/x-www-form-urlencoded'))
    throw new AppError(415, 'unsupported_media_type', 'The body must be a submitted form.')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of http.req) {
    size += chunk.length
    if (size > FORM_LIMIT_BYTES)
      throw new AppError(413, 'payload_too_large', 'The form is too large. Send less.')
    chunks.push(chunk)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
}
