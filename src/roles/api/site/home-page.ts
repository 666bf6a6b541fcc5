import type { Middleware } from 'koa'
import pTimeout from 'p-timeout'
import { notAllowed } from '../../../core/errors/errors.ts'
import { sendPage, template } from '../../../core/http/html-page.ts'
import type { DevAccount } from '../../../modules/identity/index.ts'
import type { Readiness } from './probes.ts'
import type { PublicStats } from './stats.ts'

/** The page does not wait longer for figures. */
const STATS_LIMIT_MS = 1_000

interface Figure {
  readonly label: string
  readonly value: string
}

const homeTemplate = template<{
  demo: readonly (DevAccount & { url: string })[]
  problem: string | undefined
  figures: readonly Figure[] | undefined
  picture: boolean
}>(`<p class="lead">An open teleoperation hub. Connect your robots, let operators drive them from anywhere, and watch, chat
and stop, live.</p>
<p class="actions"><% for (const { name, hint, url } of it.demo) { %><a class="button primary" href="<%= url %>">Try the demo as
<%= name %> <small class="hint"><%= hint %></small></a>
<% } %><a class="button<% if (it.demo.length === 0) { %> primary<% } %>" href="/dashboard">Open console</a>
<a class="button" href="/docs">Read the guides</a></p>
<p class="status<% if (it.problem) { %> problem<% } %>" role="status"><% if (it.problem) { %><b>Not ready</b>: <%= it.problem %>
<% } else { %><b>Operational</b><% for (const { label, value } of it.figures ?? []) { %> · <%= label %> <%= value %><% } } %></p>
<% if (it.picture) { %><picture><source srcset="/docs/images/cockpit.png" media="(prefers-color-scheme: dark)">
<img class="picture" src="/docs/images/cockpit-light.png" width="1440" height="900"
alt="The cockpit: the picture of a robot with its speed, battery and latency, and the stop"></picture>
<% } %><ul class="cards">
<li><h2>Drive with confidence</h2><p>The cockpit says whether its picture can be trusted, in one word: live, delayed or blind.
Too much latency or an old picture slows or halts the robot.</p></li>
<li><h2>Stop from anywhere</h2><p>A remote stop latches until a user with the authority clears it, across reconnects and
restarts. It complements the robot’s own emergency stop device and never replaces it.</p></li>
<li><h2>Connect any robot</h2><p>One WebSocket with JSON frames. Clients for <a href="/docs/packages/sdk">TypeScript</a>, examples
for Python and ROS, and <a href="/docs/protocol">the protocol</a> in full.</p></li>
<li><h2>Build on it</h2><p><a href="/api/docs">REST API</a>, <a href="/docs/webhooks">webhooks</a>, <a href="/docs/mcp">MCP</a> for
language models, and a <a href="/downloads">command line and SDK</a>.</p></li>
</ul>`)

/**
 * Serves `/`: what the platform is, the state of this process, and the demo where the built-in identity provider offers
 * accounts. It needs no script.
 */
export function homePage(deps: {
  readiness: Readiness
  /** Returns statistics that are a few seconds old at most. */
  stats: () => Promise<PublicStats>
  /** The accounts that the built-in identity provider offers. */
  accounts: readonly DevAccount[]
  /** Whether the pictures of the guides are installed. */
  picture: boolean
}): Middleware {
  const { readiness, stats, accounts, picture } = deps
  const demo = accounts.map((account) => ({ ...account, url: demoUrl(account) }))
  const readFigures = async () => {
    const current = stats().then(figuresOf).catch(ignoreOutage)
    return await pTimeout(current, { milliseconds: STATS_LIMIT_MS, fallback: () => undefined })
  }
  return async (http, next) => {
    if (http.path !== '/') return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') throw notAllowed(http.method, ['GET', 'HEAD'])
    const notReady = readiness()
    const figures = notReady === undefined ? await readFigures() : undefined
    const problem = notReady ?? (figures ? undefined : 'the database does not respond')
    sendPage(http, {
      status: 200,
      title: 'Wheelhouse',
      body: homeTemplate({ demo, problem, figures, picture }),
      wide: true,
    })
  }
}

// An error of the query becomes the status of the page. The readiness check reports the same outage.
const ignoreOutage = () => undefined

/** Returns the address that signs in with an account. The provider accepts the hint from its own site only. */
const demoUrl = ({ email }: DevAccount) =>
  `/auth/login?${new URLSearchParams({ login_hint: email, return_to: '/dashboard' })}`

function figuresOf(stats: PublicStats): Figure[] {
  const number = (value: number) => value.toLocaleString('en-GB')
  return [
    {
      label: 'Robots online',
      value: `${number(stats.robots_online)} of ${number(stats.robots_total)}`,
    },
    { label: 'Open sessions', value: number(stats.sessions_active) },
    { label: 'Hours driven', value: number(Math.round(stats.teleop_hours)) },
  ]
}
