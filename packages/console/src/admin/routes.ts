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
import { shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'
import { readAuditSearch, readRobotSearch, readSessionSearch, readUserSearch } from './search.ts'

export const adminRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin',
    component: lazyRouteComponent(() => import('./overview.page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/sessions',
    validateSearch: readSessionSearch,
    component: lazyRouteComponent(() => import('./sessions.page.tsx'), 'AdminSessionsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/robots',
    validateSearch: readRobotSearch,
    component: lazyRouteComponent(() => import('./robots.page.tsx'), 'AdminRobotsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/users',
    validateSearch: readUserSearch,
    component: lazyRouteComponent(() => import('./users.page.tsx'), 'UsersPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/users/$userId',
    component: lazyRouteComponent(() => import('./user.page.tsx'), 'UserPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/certifications',
    component: lazyRouteComponent(() => import('./certifications.page.tsx'), 'CertificationsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/messages',
    component: lazyRouteComponent(() => import('./messages.page.tsx'), 'MessagesPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/robot-requests',
    component: lazyRouteComponent(() => import('./robot-requests.page.tsx'), 'RobotRequestsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/robot-models',
    component: lazyRouteComponent(() => import('./robot-models.page.tsx'), 'RobotModelsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/jobs',
    component: lazyRouteComponent(() => import('./jobs.page.tsx'), 'JobsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/admin/audit',
    validateSearch: readAuditSearch,
    component: lazyRouteComponent(() => import('./audit.page.tsx'), 'AuditPage'),
  }),
] as const

export const adminNavigation: readonly NavigationEntry[] = [
  {
    to: '/admin',
    label: t('admin.navigation.overview.label'),
    description: t('admin.navigation.overview.description'),
    icon: IconActivity,
    role: 'admin',
    exact: true,
  },
  {
    to: '/admin/sessions',
    label: t('admin.navigation.sessions.label'),
    description: t('admin.navigation.sessions.description'),
    icon: IconListDetails,
    role: 'admin',
  },
  {
    to: '/admin/robots',
    label: t('admin.navigation.robots.label'),
    description: t('admin.navigation.robots.description'),
    icon: IconRobotFace,
    role: 'admin',
  },
  {
    to: '/admin/users',
    label: t('admin.navigation.people.label'),
    description: t('admin.navigation.people.description'),
    icon: IconUsers,
    role: 'admin',
  },
  {
    to: '/admin/certifications',
    label: t('admin.navigation.certifications.label'),
    description: t('admin.navigation.certifications.description'),
    icon: IconCertificate,
    role: 'admin',
  },
  {
    to: '/admin/messages',
    label: t('admin.navigation.messages.label'),
    description: t('admin.navigation.messages.description'),
    icon: IconMail,
    role: 'admin',
  },
  {
    to: '/admin/robot-requests',
    label: t('admin.navigation.robotRequests.label'),
    description: t('admin.navigation.robotRequests.description'),
    icon: IconMessageCirclePlus,
    role: 'admin',
  },
  {
    to: '/admin/robot-models',
    label: t('admin.navigation.robotModels.label'),
    description: t('admin.navigation.robotModels.description'),
    icon: IconRobot,
    role: 'admin',
  },
  {
    to: '/admin/jobs',
    label: t('admin.navigation.jobs.label'),
    description: t('admin.navigation.jobs.description'),
    icon: IconStack,
    role: 'admin',
  },
  {
    to: '/admin/audit',
    label: t('admin.navigation.audit.label'),
    description: t('admin.navigation.audit.description'),
    icon: IconHistory,
    role: 'admin',
  },
]
