import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { waitFor } from '../world/wait.ts'
import type { ConsoleData } from './console-data.ts'

/** A page of the console as one user sees it. */
export interface ConsolePage {
  /** The path of its route, such as `/robots/$robotId`. */
  readonly route: string
  /** The path that opens it, below `/dashboard`. */
  readonly path: string
  /** A text of its data, in no language: a name, an id. */
  readonly shows?: string
}

/** The viewers of pages. A visitor is not signed in, a newcomer has not completed the account, `team` is the owner who acts for a team. */
export const VIEWERS = ['visitor', 'newcomer', 'owner', 'team', 'operator', 'admin'] as const
export type Viewer = (typeof VIEWERS)[number]

const page = (route: string, shows?: string, path = route): ConsolePage => ({
  route,
  path,
  ...(shows !== undefined && { shows }),
})

const ROBOT_TABS = ['live', 'sessions', 'data', 'health', 'access', 'settings', 'connect']

const ownerPages = ({ names, robots, sessions, ...data }: ConsoleData): ConsolePage[] => [
  page('/', names.driven),
  page('/live', names.driven),
  page('/sessions', names.driven),
  page('/sessions/$sessionId', names.driven, `/sessions/${sessions.open}`),
  page('/sessions/$sessionId', names.driven, `/sessions/${sessions.ended}`),
  page('/sessions/$sessionId', names.ready, `/sessions/${sessions.planned}`),
  page('/sessions/$sessionId/replay', undefined, `/sessions/${sessions.ended}/replay`),
  page('/recordings'),
  page('/exports'),
  page('/robots', names.driven),
  page('/robots/new'),
  ...ROBOT_TABS.map((tab) => page('/robots/$robotId', names.driven, `/robots/${robots.driven}?tab=${tab}`)),
  page('/robots/$robotId', names.offline, `/robots/${robots.offline}`),
  page('/datasets', names.ready),
  page('/datasets/exports'),
  page('/datasets/$datasetId', names.ready, `/datasets/${data.datasetId}`),
  page('/invoices'),
  page('/invoices/$invoiceId', names.tradeName, `/invoices/${data.invoiceId}`),
  page('/statistics'),
  page('/organization'),
  page('/invitation'),
  page('/settings'),
  page('/settings/webhooks/$webhookId', '127.0.0.1', `/settings/webhooks/${data.webhookId}`),
  page('/watch/$sessionId', names.driven, `/watch/${sessions.open}`),
  page('/watch/$sessionId', names.driven, `/watch/${sessions.ended}`),
  page('/drive-demo'), // says that owners do not drive
  page('/$', undefined, '/no-such-page'),
]

const teamPages = ({ names, robots, team }: ConsoleData): ConsolePage[] => [
  page('/'),
  page('/organization', team.group),
  page('/organization/audit', names.owner),
  page(
    '/organization/service-accounts/$accountId',
    'Rotterdam',
    `/organization/service-accounts/${team.accountId}`,
  ),
  page('/robots', names.teamRobot),
  page('/robots/$robotId', team.group, `/robots/${robots.team}?tab=settings`),
  page('/robots/$robotId', names.operator, `/robots/${robots.team}?tab=data`),
  page('/settings'),
]

const operatorPages = ({ names, robots, sessions }: ConsoleData): ConsolePage[] => [
  page('/', names.driven),
  page('/sessions', names.driven),
  page('/sessions/$sessionId', names.driven, `/sessions/${sessions.open}`),
  page('/sessions/$sessionId', names.driven, `/sessions/${sessions.ended}`),
  page('/sessions/$sessionId/replay', undefined, `/sessions/${sessions.ended}/replay`),
  page('/recordings'),
  page('/available', names.ready),
  page('/available/$robotId', names.ready, `/available/${robots.ready}`),
  page('/certifications', names.type),
  page('/schedule'),
  page('/earnings'),
  page('/exports'),
  page('/settings'),
  // The last one, because leaving it asks.
  page('/drive/$sessionId', names.driven, `/drive/${sessions.open}`),
]

const adminPages = ({ names, operator, owner, sessions }: ConsoleData): ConsolePage[] => [
  page('/'),
  page('/admin', names.driven),
  page('/admin/sessions', names.driven),
  page('/admin/robots', names.driven),
  page('/admin/users', names.operator),
  page('/admin/users/$userId', names.operator, `/admin/users/${operator.id}`),
  page('/admin/users/$userId', names.driven, `/admin/users/${owner.id}`),
  page('/admin/certifications', names.operator),
  page('/admin/messages', 'northern hall'),
  page('/admin/robot-requests', names.type),
  page('/admin/robot-models'),
  page('/admin/jobs'),
  page('/admin/audit', names.operator),
  page('/sessions/$sessionId', names.driven, `/sessions/${sessions.open}`),
  page('/settings'),
]

/** Returns all pages of the console by viewer. */
export const pagesOf = (data: ConsoleData): Readonly<Record<Viewer, readonly ConsolePage[]>> => ({
  visitor: [page('/'), page('/signed-in')],
  newcomer: [page('/')],
  owner: ownerPages(data),
  team: teamPages(data),
  operator: operatorPages(data),
  admin: adminPages(data),
})

/** Returns the routes of the console, as its router has them. */
export const consoleRoutes = (page: Page): Promise<string[]> =>
  page.evaluate('Object.keys(__TSR_ROUTER__.routesByPath).map((path) => path.replace(/(?<=.)[/]$/, ""))')

/** Whether the router has finished, the page has its title, and nothing of it still loads. */
const IS_COMPLETE = `(() => {
  const heading = document.querySelector('h1')
  return (globalThis.__TSR_ROUTER__?.state.status ?? 'idle') === 'idle' && Boolean(heading?.textContent)
    && document.querySelector('main .mantine-Loader-root, main .mantine-Skeleton-root') === null
})()`

/** Opens a page, without a reload if the console is already open, and waits until it shows its data. */
export async function openPage(page: Page, { path, shows }: ConsolePage): Promise<void> {
  const address = `/dashboard${path}`
  // Visitors get a page without scripts.
  const isOpen = await page.evaluate('"__TSR_ROUTER__" in globalThis')
  if (isOpen) await page.evaluate(`__TSR_ROUTER__.history.push(${JSON.stringify(address)})`)
  else await page.goto(new URL(address, page.url()).href)
  await waitFor(async () => expect(await page.evaluate(IS_COMPLETE), `${path} is complete`).toBe(true))
  if (shows !== undefined) await page.locator('main').getByText(shows).first().waitFor({ state: 'attached' })
}
