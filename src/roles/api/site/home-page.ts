import type { Middleware } from 'koa'
import pTimeout from 'p-timeout'
import { notAllowed } from '../../../core/errors/errors.ts'
import { sendPage, template } from '../../../core/http/html-page.ts'
import { type DevAccount, hasSessionCookie } from '../../../modules/identity/index.ts'
import type { Readiness } from './probes.ts'
import type { PublicStats } from './stats.ts'

/** The page does not wait longer for figures. */
const STATS_LIMIT_MS = 1_000

interface Figure {
  readonly label: string
  readonly value: string
}

/** The links of the hero: the only button, and beside it what else a visitor may want. */
interface Hero {
  readonly primary: Link
  readonly secondary: Link
  readonly note: string | undefined
}
interface Link {
  readonly label: string
  readonly url: string
}

/** A shape of each state, so that colour is never its only sign. */
const SHAPES = {
  up: '<svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true" fill="currentColor"><circle cx="5" cy="5" r="5"/></svg>',
  down: `<svg width="11" height="11" viewBox="0 0 11 11" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.5">
<path d="M1 1h9v9H1zM1 1l9 9M10 1l-9 9"/></svg>`,
}
const STOP = `<svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round">
<path d="M8.5 3h7L21 8.5v7L15.5 21h-7L3 15.5v-7z"/><path d="M9.5 9.5h5v5h-5z" fill="currentColor"/></svg>`

/** The program of the README, which a test compares. */
const SAMPLE = `<i>import</i> { SimulatedRobot } <i>from</i> <q>'@wheelhouse/sdk'</q>

<i>const</i> [url, token] = process.argv.slice(2) <i>as</i> [string, string]
<i>const</i> robot = <i>new</i> SimulatedRobot({
  url,
  token,
  onConnection: (state) => console.log(state),
})
console.log(<i>await</i> robot.start())`

const homeTemplate = template<
  Hero & { picture: boolean }
>(`<section class="hero"><h1><span>Take the wheel from anywhere.</span> <span>Always know what is live.</span></h1>
<p class="lead">An open hub between robots and the people who drive them: it says how old each picture is, and keeps the stop
within everyone’s reach.</p>
<p class="actions"><a class="button primary big" href="<%= it.primary.url %>"><%= it.primary.label %></a>
<a href="<%= it.secondary.url %>"><%= it.secondary.label %></a></p>
<% if (it.note) { %><p class="dimmed"><small><%= it.note %></small></p>
<% } if (it.picture) { %><img class="picture" src="/docs/images/cockpit.png" width="1440" height="900" fetchpriority="high"
alt="The cockpit: the picture of a robot with its speed, its battery, the age of the picture and the stop">
<% } %></section>
<ul class="figures" aria-label="Four facts">
<li><b>1,000 ms</b><span>An older picture counts as blind: its age then stands across it in large digits.</span></li>
<li><b>3 paths</b><span>carry a stop from the cockpit at the same time: gateway, hub and REST.</span></li>
<li><b>1 of 1,000</b><span>simultaneous starts gets the robot. It never has two operators.</span></li>
<li><b>0.3 cores</b><span>forward a camera to <a href="/docs/video#cost">100 viewers</a>, 0.4 ms later at the median.</span></li></ul>
<section class="band"><h2>From the first heartbeat to training data</h2><ol class="steps">
<li><h3>Connect</h3><p>A robot opens one WebSocket and speaks JSON. There is an <a href="/docs/packages/sdk">SDK for TypeScript</a>,
a <a href="/docs/packages/python">package for Python</a>, and <a href="/docs/ros">a robot with ROS</a> needs no code.</p></li>
<li><h3>Drive</h3><p>By keyboard, gamepad or thumb. Old commands expire, silence halts the robot, and a stop stays latched until
someone with the authority clears it.</p></li>
<li><h3>Learn</h3><p>A <a href="/docs/recordings">recorded session</a> is one MCAP file with its gaps listed. Replay it here, open it
in <a href="/docs/foxglove">Foxglove</a>, train on it with LeRobot.</p></li></ol></section>
<% if (it.picture) { %><section class="band pair"><div><h2>An old picture cannot look live</h2><p>A second after the last frame the picture
loses its colour, its age stands across it, and figures that nothing confirms are crossed out. By then the robot has halted,
unless its owner lets it drive by an old picture.</p><p><a href="/docs/console">How the console says what it knows</a></p></div>
<img class="picture" src="/docs/images/cockpit-blind.png" width="1440" height="900" loading="lazy"
alt="The cockpit without a connection: the picture is grey, and its age of two seconds stands across it"></section>
<section class="band"><h2>Every session again, every robot now</h2><div class="pair">
<figure><img class="picture" src="/docs/images/replay.png" width="1440" height="900" loading="lazy"
alt="The replay of a session: picture, path, commands, speed and latency on one time axis"><figcaption><b>Replay.</b> What the
operator saw, what was commanded and what the robot did, on one time axis.</figcaption></figure>
<figure><img class="picture" src="/docs/images/wall.png" width="1440" height="900" loading="lazy"
alt="The wall: a tile for each live robot, with its picture, its state and a stop"><figcaption><b>Wall.</b> Every robot that is
connected, each with its picture, its state and its own stop.</figcaption></figure></div></section>
<% } %><section class="band pair"><div><h2>Your first robot is nine lines</h2><p>It is simulated and speaks the protocol of a real
one: put <code>RobotLink</code> in its place, and the motors are yours.</p><p><a href="/docs/readme#five-minutes-to-your-own-robot">Run it
in five minutes</a> · <a href="/docs/protocol-robot">The protocol</a></p></div>
<pre aria-label="A robot in TypeScript"><code>${SAMPLE}</code></pre></section>
<section class="safety">${STOP}<p><b>A remote stop depends on the network.</b> It complements the robot’s own emergency stop device
and never replaces it.</p></section>`)

const footerTemplate = template<{
  problem: string | undefined
  figures: readonly Figure[] | undefined
}>(`<footer><p class="status<% if (it.problem) { %> down<% } %>" role="status"><% if (it.problem) { %><b>${SHAPES.down}Not ready</b>: <%= it.problem %>
<% } else { %><b>${SHAPES.up}Operational</b><% for (const { label, value } of it.figures ?? []) { %> · <%= label %> <%= value %><% } } %></p>
<nav aria-label="More"><a href="/api/health">Status</a><a href="/api/docs">API</a><a href="/downloads">Downloads</a>
<a href="/docs/security">Security</a><a href="/docs/readme">Source, Apache-2.0</a></nav></footer>`)

/**
 * Serves `/`: what the platform is, the demo where the built-in identity provider offers accounts, and the state of this
 * process. It needs no script.
 */
export function homePage(deps: {
  baseUrl: string
  readiness: Readiness
  /** Returns statistics that are a few seconds old at most. */
  stats: () => Promise<PublicStats>
  /** The accounts that the built-in identity provider offers. */
  accounts: readonly DevAccount[]
  /** Whether the pictures of the guides are installed. */
  picture: boolean
}): Middleware {
  const { baseUrl, readiness, stats, picture } = deps
  const body = homeTemplate({ ...heroOf(deps.accounts), picture })
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
      title: 'Wheelhouse: drive robots from anywhere',
      body,
      wide: true,
      titled: true,
      ...(!hasSessionCookie(http, baseUrl) && { entrance: SIGN_IN }),
      footer: footerTemplate({ problem, figures }),
    })
  }
}

const SIGN_IN: Link = {
  label: 'Sign in',
  url: `/auth/login?${new URLSearchParams({ return_to: '/dashboard' })}`,
}

/** Returns the links of the demo if it has an operator, who drives a robot at once. */
function heroOf(accounts: readonly DevAccount[]): Hero {
  const as = (role: DevAccount['role']) => accounts.find((account) => account.role === role)
  const [operator, owner] = [as('operator'), as('owner')]
  if (!operator || !owner) {
    const primary = { label: 'Open the console', url: '/dashboard' }
    return { primary, secondary: { label: 'Read the guides', url: '/docs' }, note: undefined }
  }
  return {
    primary: { label: 'Drive the demo robot', url: demoUrl(operator, '/dashboard/drive-demo') },
    secondary: { label: 'See it as the owner', url: demoUrl(owner, '/dashboard') },
    note: 'A simulated robot, in this browser, without an account of your own.',
  }
}

// An error of the query becomes the status of the page. The readiness check reports the same outage.
const ignoreOutage = () => undefined

/** Returns the address that signs in with an account. The provider accepts the hint from its own site only. */
const demoUrl = ({ email }: DevAccount, returnTo: string) =>
  `/auth/login?${new URLSearchParams({ login_hint: email, return_to: returnTo })}`

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
