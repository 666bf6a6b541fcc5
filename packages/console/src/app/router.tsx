import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  type RouteComponent,
  redirect,
} from '@tanstack/react-router'
import { z } from 'zod'
import * as admin from '../admin/search.ts'
import { readAuditSearch } from '../audit/search.ts'
import { NotFound } from '../base/page.tsx'
import { Loading, Problem } from '../base/states.tsx'
import { readAvailableSearch } from '../operator/queries.ts'
import { readRobotSearch, readRobotTab } from '../robots/search.ts'
import { readSessionSearch } from '../session/list-search.ts'
import { readWallSearch } from '../wall/wall-search.ts'
import { FullWindow, Shell } from './shell.tsx'
import { SignedIn } from './sign-in.tsx'

const RouteProblem = ({ error, reset }: ErrorComponentProps) => <Problem error={error} onRetry={reset} />

const rootRoute = createRootRoute({ notFoundComponent: NotFound, errorComponent: RouteProblem })

/** The parent of all pages for signed-in users: header, navigation and page. */
const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  errorComponent: RouteProblem,
})

/** The parent of pages for signed-in users that fill the window, without header and navigation. */
const fullWindowRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'full-window',
  errorComponent: RouteProblem,
})

// The pages depend on the types of the routes, and the shell on those of the pages.
shellRoute.update({ component: Shell })
fullWindowRoute.update({ component: FullWindow })

type Page<Name extends string> = () => Promise<Readonly<Record<Name, RouteComponent>>>
type SearchReader = ((given: Record<string, unknown>) => object) | undefined

/** Returns a function that creates the route of a page. Its last parameter reads the search parameters of the address. */
const pagesOf =
  <Parent extends AnyRoute>(getParentRoute: () => Parent) =>
  <const Path extends string, const Name extends string, Reader extends SearchReader = undefined>(
    path: Path,
    page: Page<Name>,
    name: Name,
    readSearch?: Reader,
  ) =>
    createRoute({
      getParentRoute,
      path,
      validateSearch: readSearch as Reader,
      component: lazyRouteComponent(page, name),
    })
const page = pagesOf(() => shellRoute)
const fullPage = pagesOf(() => fullWindowRoute)

const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  // E-mails link to `/dashboard?session=…`.
  validateSearch: ({ session }: Record<string, unknown>): { session?: string } =>
    typeof session === 'string' ? { session } : {},
  beforeLoad: ({ search: { session } }) => {
    if (session) throw redirect({ to: '/sessions/$sessionId', params: { sessionId: session }, replace: true })
  },
  component: lazyRouteComponent(() => import('../home/home.page.tsx'), 'HomePage'),
})

/** Notifications and mails name their export: `/dashboard/exports?export=…`. */
const readExport = (given: Record<string, unknown>): { export?: string } =>
  typeof given.export === 'string' ? { export: given.export } : {}

const recordings = z.object({ robot: z.guid().optional().catch(undefined) })
const readRobot = (given: Record<string, unknown>) => recordings.parse(given)

/** Where a replay begins: in seconds since the start of the recording, or as a time. */
function readMoment({ t, at }: Record<string, unknown>): { t?: number | undefined; at?: string | undefined } {
  // Sets both parameters, because the router keeps the old value of a parameter that is not set.
  if (typeof t === 'number' && Number.isFinite(t) && t >= 0) return { t, at: undefined }
  const isTime = typeof at === 'string' && !Number.isNaN(Date.parse(at))
  return { t: undefined, at: isTime ? at : undefined }
}

/** Completes a sign-in in a second window. */
const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/signed-in',
  component: SignedIn,
})
/** An unknown address keeps the navigation. */
const unknownRoute = createRoute({ getParentRoute: () => shellRoute, path: '$', component: NotFound })

// The first load includes this file, but none of the pages.
const routeTree = rootRoute.addChildren([
  signedInRoute,
  shellRoute.addChildren([
    homeRoute,
    page('/sessions', () => import('../session/sessions.page.tsx'), 'SessionsPage', readSessionSearch),
    page('/sessions/$sessionId', () => import('../session-page/session.page.tsx'), 'SessionPage'),
    page('/exports', () => import('../session/exports.page.tsx'), 'ExportsPage', readExport),
    page('/recordings', () => import('../recording/recordings.page.tsx'), 'RecordingsPage', readRobot),
    page('/available', () => import('../operator/available.page.tsx'), 'AvailablePage', readAvailableSearch),
    page('/available/$robotId', () => import('../operator/pre-flight.page.tsx'), 'PreFlightPage'),
    page('/certifications', () => import('../operator/certifications.page.tsx'), 'CertificationsPage'),
    page('/schedule', () => import('../operator/schedule.page.tsx'), 'SchedulePage'),
    page('/earnings', () => import('../operator/earnings.page.tsx'), 'EarningsPage'),
    page('/robots', () => import('../robots/robots.page.tsx'), 'RobotsPage', readRobotSearch),
    page('/robots/new', () => import('../robots/new-robot.page.tsx'), 'NewRobotPage'),
    page('/robots/$robotId', () => import('../robots/robot.page.tsx'), 'RobotPage', readRobotTab),
    page('/datasets', () => import('../data/datasets.page.tsx'), 'DatasetsPage'),
    page('/datasets/exports', () => import('../data/datasets.page.tsx'), 'DatasetExportsPage'),
    page('/datasets/$datasetId', () => import('../data/datasets.page.tsx'), 'DatasetPage'),
    page('/invoices', () => import('../billing/invoices.page.tsx'), 'InvoicesPage'),
    page('/invoices/$invoiceId', () => import('../billing/invoices.page.tsx'), 'InvoicePage'),
    page('/statistics', () => import('../statistics/statistics.page.tsx'), 'StatisticsPage'),
    page('/admin', () => import('../admin/overview.page.tsx'), 'OverviewPage'),
    page(
      '/admin/sessions',
      () => import('../admin/lists.page.tsx'),
      'AdminSessionsPage',
      admin.readSessionSearch,
    ),
    page('/admin/robots', () => import('../admin/lists.page.tsx'), 'AdminRobotsPage', admin.readRobotSearch),
    page('/admin/users', () => import('../admin/lists.page.tsx'), 'UsersPage', admin.readUserSearch),
    page('/admin/users/$userId', () => import('../admin/user.page.tsx'), 'UserPage'),
    page('/admin/certifications', () => import('../admin/certifications.page.tsx'), 'CertificationsPage'),
    page('/admin/messages', () => import('../admin/inbox.page.tsx'), 'MessagesPage'),
    page('/admin/robot-requests', () => import('../admin/inbox.page.tsx'), 'RobotRequestsPage'),
    page('/admin/robot-models', () => import('../admin/robot-models.page.tsx'), 'RobotModelsPage'),
    page('/admin/jobs', () => import('../admin/jobs.page.tsx'), 'JobsPage'),
    page('/admin/audit', () => import('../admin/audit.page.tsx'), 'AuditPage', readAuditSearch),
    page('/organization', () => import('../organization/organization.page.tsx'), 'OrganizationPage'),
    page('/organization/audit', () => import('../organization/audit.page.tsx'), 'AuditPage', readAuditSearch),
    page(
      '/organization/service-accounts/$accountId',
      () => import('../organization/service-account.page.tsx'),
      'ServiceAccountPage',
    ),
    page('/settings', () => import('../settings/settings.page.tsx'), 'SettingsPage'),
    page('/settings/webhooks/$webhookId', () => import('../webhooks/webhook.page.tsx'), 'WebhookPage'),
    unknownRoute,
  ]),
  fullWindowRoute.addChildren([
    fullPage('/live', () => import('../wall/wall.page.tsx'), 'WallPage', readWallSearch),
    fullPage('/drive/$sessionId', () => import('../drive/drive.page.tsx'), 'DrivePage'),
    fullPage('/watch/$sessionId', () => import('../drive/drive.page.tsx'), 'WatchPage'),
    // Mails link to it, with the token behind `#`.
    fullPage('/invitation', () => import('../organization/invitation.page.tsx'), 'InvitationPage'),
    // The front page links to it.
    fullPage('/drive-demo', () => import('../operator/drive-demo.page.tsx'), 'DriveDemoPage'),
    fullPage(
      '/sessions/$sessionId/replay',
      () => import('../replay/replay.page.tsx'),
      'ReplayPage',
      readMoment,
    ),
  ]),
])

export const createConsoleRouter = () =>
  createRouter({
    routeTree,
    basepath: '/dashboard',
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    scrollRestoration: true,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>
  }
}
