import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IconRobot } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellPage, shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'
import { readRobotSearch, readRobotTab } from './search.ts'

const getParentRoute = () => shellRoute

export const robotRoutes = [
  createRoute({
    getParentRoute,
    path: '/robots',
    validateSearch: readRobotSearch,
    component: lazyRouteComponent(() => import('./robots.page.tsx'), 'RobotsPage'),
  }),
  shellPage(
    '/robots/new',
    lazyRouteComponent(() => import('./new-robot.page.tsx'), 'NewRobotPage'),
  ),
  createRoute({
    getParentRoute,
    path: '/robots/$robotId',
    validateSearch: readRobotTab,
    component: lazyRouteComponent(() => import('./robot.page.tsx'), 'RobotPage'),
  }),
] as const

export const robotNavigation: readonly NavigationEntry[] = [
  {
    to: '/robots',
    label: t('robots.navigation.label'),
    description: t('robots.navigation.description'),
    icon: IconRobot,
    role: 'client',
  },
]
