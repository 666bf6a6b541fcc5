import { adminNavigation, adminRoutes } from '../admin/routes.ts'
import { billingNavigation, billingRoutes } from '../billing/routes.ts'
import { dataNavigation, dataRoutes } from '../data/routes.ts'
import { driveRoutes } from '../drive/routes.ts'
import { homeRoutes } from '../home/routes.ts'
import { demoRoutes, operatorNavigation, operatorRoutes } from '../operator/routes.ts'
import type { NavigationEntry } from '../platform/platform.ts'
import { recordingNavigation, recordingRoutes } from '../recording/routes.ts'
import { replayRoutes } from '../replay/routes.ts'
import { robotNavigation, robotRoutes } from '../robots/routes.ts'
import { exportRoutes, sessionNavigation, sessionRoutes } from '../session/routes.ts'
import { sessionPageRoutes } from '../session-page/routes.ts'
import { settingsNavigation, settingsRoutes } from '../settings/routes.ts'
import { statisticsNavigation, statisticsRoutes } from '../statistics/routes.ts'
import { wallNavigation, wallRoutes } from '../wall/routes.ts'

/** The routes of pages that fill the window. */
export const fullWindowRoutes = [...wallRoutes, ...driveRoutes, ...demoRoutes, ...replayRoutes] as const

/** The routes of all other pages. */
export const routes = [
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
] as const

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
