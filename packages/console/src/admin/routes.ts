import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import {
  IconActivity,
  IconCertificate,
  IconHistory,
  IconListDetails,
  IconMail,
  IconMessageCirclePlus,
  IconRobot,
  IconRobotFace,
  IconStack,
  IconUsers,
} from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellPage, shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'
import { readAuditSearch, readRobotSearch, readSessionSearch, readUserSearch } from './search.ts'

export const adminRoutes = [
  shellPage(
    '/admin',
    lazyRouteComponent(() => import('./overview.page.tsx'), 'OverviewPage'),
  ),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/sessions',
    validateSearch: readSessionSearch,
    component: lazyRouteComponent(() => import('./lists.page.tsx'), 'AdminSessionsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/robots',
    validateSearch: readRobotSearch,
    component: lazyRouteComponent(() => import('./lists.page.tsx'), 'AdminRobotsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/users',
    validateSearch: readUserSearch,
    component: lazyRouteComponent(() => import('./lists.page.tsx'), 'UsersPage'),
  }),
  shellPage(
    '/admin/users/$userId',
    lazyRouteComponent(() => import('./user.page.tsx'), 'UserPage'),
  ),
  shellPage(
    '/admin/certifications',
    lazyRouteComponent(() => import('./certifications.page.tsx'), 'CertificationsPage'),
  ),
  shellPage(
    '/admin/messages',
    lazyRouteComponent(() => import('./inbox.page.tsx'), 'MessagesPage'),
  ),
  shellPage(
    '/admin/robot-requests',
    lazyRouteComponent(() => import('./inbox.page.tsx'), 'RobotRequestsPage'),
  ),
  shellPage(
    '/admin/robot-models',
    lazyRouteComponent(() => import('./robot-models.page.tsx'), 'RobotModelsPage'),
  ),
  shellPage(
    '/admin/jobs',
    lazyRouteComponent(() => import('./jobs.page.tsx'), 'JobsPage'),
  ),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/audit',
    validateSearch: readAuditSearch,
    component: lazyRouteComponent(() => import('./audit.page.tsx'), 'AuditPage'),
  }),
] as const

const entries: readonly NavigationEntry[] = [
  {
    to: '/admin',
    label: t('admin.navigation.overview.label'),
    description: t('admin.navigation.overview.description'),
    icon: IconActivity,
    exact: true,
  },
  {
    to: '/admin/sessions',
    label: t('admin.navigation.sessions.label'),
    description: t('admin.navigation.sessions.description'),
    icon: IconListDetails,
  },
  {
    to: '/admin/robots',
    label: t('admin.navigation.robots.label'),
    description: t('admin.navigation.robots.description'),
    icon: IconRobotFace,
  },
  {
    to: '/admin/users',
    label: t('admin.navigation.people.label'),
    description: t('admin.navigation.people.description'),
    icon: IconUsers,
  },
  {
    to: '/admin/certifications',
    label: t('admin.navigation.certifications.label'),
    description: t('admin.navigation.certifications.description'),
    icon: IconCertificate,
  },
  {
    to: '/admin/messages',
    label: t('admin.navigation.messages.label'),
    description: t('admin.navigation.messages.description'),
    icon: IconMail,
  },
  {
    to: '/admin/robot-requests',
    label: t('admin.navigation.robotRequests.label'),
    description: t('admin.navigation.robotRequests.description'),
    icon: IconMessageCirclePlus,
  },
  {
    to: '/admin/robot-models',
    label: t('admin.navigation.robotModels.label'),
    description: t('admin.navigation.robotModels.description'),
    icon: IconRobot,
  },
  {
    to: '/admin/jobs',
    label: t('admin.navigation.jobs.label'),
    description: t('admin.navigation.jobs.description'),
    icon: IconStack,
  },
  {
    to: '/admin/audit',
    label: t('admin.navigation.audit.label'),
    description: t('admin.navigation.audit.description'),
    icon: IconHistory,
  },
]

export const adminNavigation: readonly NavigationEntry[] = entries.map((entry) => ({
  ...entry,
  role: 'admin',
}))
