import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { NavigationEntry } from '../app/navigation.ts'
import { shellRoute } from '../app/root-routes.ts'
import {
  IconActivity,
  IconCertificate,
  IconHistory,
  IconListDetails,
  IconMail,
  IconMessageCirclePlus,
  IconRobot,
  IconRobotFace,
  IconUsers,
} from '../ui/icons.tsx'
import { readAuditSearch } from './audit-search.ts'
import { readRobotSearch, readSessionSearch, readUserSearch } from './list-search.ts'

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
    label: 'Overview',
    description: 'Robots, open sessions and gateways, live.',
    icon: IconActivity,
    role: 'admin',
    exact: true,
  },
  {
    to: '/admin/sessions',
    label: 'Sessions',
    description: 'Sessions of all users.',
    icon: IconListDetails,
    role: 'admin',
  },
  {
    to: '/admin/robots',
    label: 'Robots',
    description: 'Robots of all owners.',
    icon: IconRobotFace,
    role: 'admin',
  },
  {
    to: '/admin/users',
    label: 'People',
    description: 'Accounts, roles and suspensions.',
    icon: IconUsers,
    role: 'admin',
  },
  {
    to: '/admin/certifications',
    label: 'Certification requests',
    description: 'Approve operators for robot types.',
    icon: IconCertificate,
    role: 'admin',
  },
  {
    to: '/admin/messages',
    label: 'Contact messages',
    description: 'Messages from the contact form.',
    icon: IconMail,
    role: 'admin',
  },
  {
    to: '/admin/robot-requests',
    label: 'Robot requests',
    description: 'Requests for new robot types.',
    icon: IconMessageCirclePlus,
    role: 'admin',
  },
  {
    to: '/admin/robot-models',
    label: 'Robot models',
    description: 'Commands and telemetry of each model.',
    icon: IconRobot,
    role: 'admin',
  },
  {
    to: '/admin/jobs',
    label: 'Background work',
    description: 'Queues, failed and retrying jobs.',
    icon: IconListDetails,
    role: 'admin',
  },
  {
    to: '/admin/audit',
    label: 'Audit log',
    description: 'Privileged and billing events.',
    icon: IconHistory,
    role: 'admin',
  },
]
