import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestCamera } from '../../support/browser/cameras.ts'
import {
  type CockpitFixture,
  connectRobot,
  forgiveSlowStops,
  openCockpit,
  SLOW_RELOADS,
} from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole, throughNetwork } from '../../support/browser/console.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// What each page says in every frame from a second after one of its sources fell silent, until the source is back.

/** What all elements of a selector, at least one, must show: in their text, or in an attribute ('null' without it). */
interface Truth {
  readonly selector: string
  readonly attribute?: string
  readonly is: RegExp
}

const shown = (selector: string, is: RegExp): Truth => ({ selector, is })
const testId = (id: string, is: RegExp, attribute?: string): Truth => ({
  selector: `[data-testid=${id}]`,
  is,
  ...(attribute && { attribute }),
})
const state = (is: RegExp) => testId('freshness', is, 'data-state')
const holder = (is: RegExp) => shown('[data-hud=identity] [role=status]', is)
/** The icon of the window, which is no longer that of a live picture. */
const noLiveIcon: Truth = { selector: 'link[rel=icon]', attribute: 'href', is: /%3Crect|M24/ }

const PAGES = ['cockpit', 'session', 'wall', 'home'] as const
type Truths = Record<(typeof PAGES)[number], readonly Truth[]>

/** What a page shows of a robot of which nothing is heard any more. */
const NOTHING_KNOWN: Truths = {
  cockpit: [
    state(/^BLIND$/),
    holder(/^No connection$/),
    testId('battery', /^unknown$/, 'data-level'),
    testId('earnings', /^true$/, 'data-stale'),
    testId('heading', /^–$/),
    noLiveIcon,
  ],
  session: [
    state(/^BLIND$/),
    shown('header [role=status]', /^(Outdated|Reconnecting|Offline)$/),
    shown('section[aria-label="Status"]', /last known/),
  ],
  wall: [testId('live-tile', /^true$/, 'data-unknown'), state(/^UNKNOWN$/)],
  home: [testId('live-tile', /^true$/, 'data-unknown'), state(/^UNKNOWN$/)],
}

/** On a busy machine the connection may fall silent, too. */
const PICTURE_FROZEN: Truths = {
  cockpit: [state(/^BLIND$/), holder(/^(Commands held|No connection)$/), noLiveIcon],
  session: [state(/^BLIND$/)],
  wall: [state(/^(BLIND|UNKNOWN)$/)],
  home: [state(/^(BLIND|UNKNOWN)$/)],
}

const ROBOT_GONE: Truths = {
  cockpit: [
    state(/^(LOST|BLIND)$/),
    holder(/^No connection$/),
    testId('battery', /^unknown$/, 'data-level'),
    testId('heading', /^–$/),
    noLiveIcon,
  ],
  session: [state(/^(LOST|BLIND)$/), shown('section[aria-label="Status"]', /Robot offline|last known/)],
  wall: [state(/^(LOST|UNKNOWN)$/)],
  home: [state(/^(LOST|UNKNOWN)$/)],
}

/** Frames at 60 a second: the truth counts from a second and a quarter on, and is looked at for a second. */
const SETTLED_FRAMES = 75
const WATCHED_FRAMES = 60

/**
 * Looks at the page in every frame. Ages and earnings must never fall; `truths` must hold from `SETTLED_FRAMES` on. A frame is at least a
 * sixtieth of a second, so that a slow machine has more time.
 */
const WATCH_PAGE = `
  window.timeline = { lies: [], frames: 0, truths: [] }
  const lie = (text) => {
    const { lies } = window.timeline
    if (lies.length < 20 && !lies.includes(text)) lies.push(text)
  }
  const units = { ms: 1, s: 1_000, min: 60_000 }
  const ages = new WeakMap()
  const watchAge = (badge) => {
    const { state } = badge.dataset
    const isOld = state === 'BLIND' || state === 'LOST'
    const [, figure, unit] = /([\\d.]+) (ms|s|min)$/.exec(badge.parentElement.innerText.trim()) ?? []
    const ageMs = isOld && unit ? figure * units[unit] : undefined
    const before = ages.get(badge)
    if (before > ageMs) lie('an age fell from ' + before + ' to ' + ageMs + ' ms')
    ages.set(badge, ageMs)
  }
  let earned = 0
  const watchEarnings = (figure) => {
    const amount = Number(figure.innerText.replace(/[^\\d.]/g, ''))
    if (amount < earned) lie('earnings fell from ' + earned + ' to ' + amount)
    earned = amount
  }
  const check = ({ selector, attribute, source }) => {
    const found = [...document.querySelectorAll(selector)]
    if (found.length === 0) lie(selector + ' is missing')
    for (const element of found) {
      const text = attribute ? String(element.getAttribute(attribute)) : element.innerText.trim()
      if (!new RegExp(source).test(text)) lie(selector + ' ' + (attribute ?? 'text') + ' is ' + text)
    }
  }
  const look = () => {
    const { timeline } = window
    timeline.frames++
    document.querySelectorAll('[data-testid=freshness]').forEach(watchAge)
    document.querySelectorAll('[data-testid=earnings]').forEach(watchEarnings)
    if (timeline.frames >= ${SETTLED_FRAMES}) timeline.truths.forEach(check)
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)`

let world: World
let browser: ConsoleBrowser
let api: TcpProxy
let gateway: TcpProxy
beforeAll(async () => {
  api = await createTcpProxy(() => world.baseUrl)
  world = await createWorld({
    env: { ...SLOW_RELOADS, ROBOT_GRACE_MS: '600000', CORS_ORIGINS: new URL(api.url).origin },
  })
  browser = await openConsole(world.baseUrl)
  gateway = await createTcpProxy(world.gatewayUrl)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await gateway?.[Symbol.asyncDispose]()
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
  await api?.[Symbol.asyncDispose]()
})

let camera: Awaited<ReturnType<typeof createTestCamera>>
let fixture: CockpitFixture
let pages: Record<keyof Truths, Page>
beforeEach(async () => {
  camera = await createTestCamera({ everyMs: 100 })
  fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const { owner, operator, sessionId, path } = fixture
  await owner.patch('/api/client/profile', { company_name: 'Works', contact_email: 'owner@test.local' })
  pages = {
    cockpit: await open(operator, path),
    session: await open(owner, `/dashboard/sessions/${sessionId}`),
    wall: await open(owner, '/dashboard/live'),
    home: await open(owner, '/dashboard'),
  }
  await untilLive()
})
afterEach(async () => {
  api.restore()
  gateway.restore()
  await browser.closePages()
  await fixture[Symbol.asyncDispose]()
  await camera[Symbol.asyncDispose]()
})

/** Opens a page whose platform is behind the proxies. The camera is not. */
async function open(user: TestUser, path: string): Promise<Page> {
  const { page, context } = await browser.visit({ viewport: { width: 1_024, height: 640 } })
  await context.addCookies([{ name: '__session', value: user.token, url: api.url, httpOnly: true }])
  await context.addInitScript(WATCH_PAGE)
  await throughNetwork(context, gateway.url)
  await page.goto(new URL(path, api.url).href)
  return page
}

/** Waits until a page has its sources again. Four pages with pictures may be late on a busy machine. */
const isBack = (name: keyof Truths) =>
  pages[name].locator(':is([data-state=LIVE], [data-state=DELAYED])').first().waitFor()
const untilLive = () => Promise.all(PAGES.map(isBack))

/** Expects that every frame of every page tells the truth, from a second on. */
async function expectTruth(truths: Truths): Promise<void> {
  await Promise.all(
    PAGES.map((name) => {
      const checks = truths[name].map(({ is, ...truth }) => ({ ...truth, source: is.source }))
      return pages[name].evaluate(
        `Object.assign(window.timeline, { frames: 0, truths: ${JSON.stringify(checks)} })`,
      )
    }),
  )
  await Promise.all(
    PAGES.map((name) =>
      waitFor(async () =>
        expect(await pages[name].evaluate('window.timeline.frames')).toBeGreaterThan(
          SETTLED_FRAMES + WATCHED_FRAMES,
        ),
      ),
    ),
  )
  await Promise.all(PAGES.map((name) => pages[name].evaluate('window.timeline.truths = []')))
  expect(await lies()).toEqual({})
}

/** Returns what was wrong in any frame so far, by page. */
async function lies(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const name of PAGES) {
    const texts = (await pages[name].evaluate('window.timeline.lies')) as string[]
    if (texts.length > 0) found[name] = texts
  }
  return found
}

test.each([
  ['a network that loses everything', () => [api.silence(), gateway.silence()]],
  ['a platform that was killed', () => [api.cut(), gateway.cut()]],
])('%s: nothing counts as known, and everything is live again afterwards', async (_name, fail) => {
  fail()
  await expectTruth(NOTHING_KNOWN)
  api.restore()
  gateway.restore()
  await untilLive()
  expect(await lies()).toEqual({})
})

test('a frozen camera: every page is blind, and what the robot reports still counts', async () => {
  camera.freeze(true)
  await expectTruth(PICTURE_FROZEN)
  const { cockpit } = pages
  await cockpit.locator('[data-testid=battery]:not([data-level=unknown])').waitFor()
  await cockpit.getByTestId('heading').getByText('°').waitFor()
  camera.freeze(false)
  await untilLive()
  expect(await lies()).toEqual({})
})

test('a robot that was killed: it is lost, with its figures', async () => {
  await fixture.robot.close()
  await expectTruth(ROBOT_GONE)
  const again = await connectRobot(world, { id: fixture.robotId, token: fixture.robotToken })
  try {
    // The session stays paused, as the other pages say.
    await isBack('cockpit')
    expect(await lies()).toEqual({})
  } finally {
    await again.close()
  }
})

test('no recorder: no page says that the session is recorded, and the cockpit says why', async () => {
  const { owner, robotId } = fixture
  await owner.patch(`/api/client/robots/${robotId}`, { recording: 'control' })
  const { cockpit } = pages
  await cockpit
    .getByText(/^Not recorded: /)
    .first()
    .waitFor()
  for (const name of PAGES) expect(await pages[name].getByText('REC', { exact: true }).count(), name).toBe(0)
})
