import { createRoute, createRouter } from '@tanstack/react-router'
import { adminNavigation, adminRoutes } from '../admin/routes.ts'
import { NotFound } from '../base/page.tsx'
import { Loading } from '../base/states.tsx'
import { billingNavigation, billingRoutes } from '../billing/routes.ts'
import { dataNavigation, dataRoutes } from '../data/routes.ts'
import { driveRoutes } from '../drive/routes.ts'
import { homeRoutes } from '../home/routes.ts'
import { demoRoutes, operatorNavigation, operatorRoutes } from '../operator/routes.ts'
import type { NavigationEntry } from '../platform/platform.ts'
import { fullWindowRoute, rootRoute, shellRoute } from '../platform/root-routes.tsx'
import { recordingNavigation, recordingRoutes } from '../recording/routes.ts'
import { replayRoutes } from '../replay/routes.ts'
import { robotNavigation, robotRoutes } from '../robots/routes.ts'
import { exportRoutes, sessionNavigation, sessionRoutes } from '../session/routes.ts'
import { sessionPageRoutes } from '../session-page/routes.ts'
import { settingsNavigation, settingsRoutes } from '../settings/routes.ts'
import { statisticsNavigation, statisticsRoutes } from '../statistics/routes.ts'
import { wallNavigation, wallRoutes } from '../wall/routes.ts'
import { FullWindow, Shell } from './shell.tsx'
import { SignedIn } from './sign-in.tsx'

// Features import the routes above their pages, but not the shell, which contains parts of features.
shellRoute.update({ component: Shell })
fullWindowRoute.update({ component: FullWindow })

/** Completes a sign-in in a second window. */
const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/signed-in',
  component: SignedIn,
})
/** An unknown address keeps the navigation. */
const unknownRoute = createRoute({ getParentRoute: () => shellRoute, path: '$', component: NotFound })

const routeTree = rootRoute.addChildren([
  signedInRoute,
  shellRoute.addChildren([
    ...homeRoutes,
    ...sessionRoutes,
    ...sessionPageRoutes,
    ...exportRoutes,
    ...recordingRoutes,
    ...operatorRoutes,
    ...robotRoutes,
    ...dataRoutes,
    ...billingRoutes,
    ...statisticsRoutes,
    ...adminRoutes,
    ...settingsRoutes,
    unknownRoute,
  ]),
  fullWindowRoute.addChildren([...wallRoutes, ...driveRoutes, ...demoRoutes, ...replayRoutes]),
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

/** The navigation links of all features, in display order. */
export const navigation: readonly NavigationEntry[] = [
  ...sessionNavigation,
  ...recordingNavigation,
  ...operatorNavigation,
  ...wallNavigation,
  ...robotNavigation,
  ...dataNavigation,
  ...billingNavigation,
  ...statisticsNavigation,
  ...adminNavigation,
  ...settingsNavigation,
]
