import { IconCalendarWeek, IconCertificate, IconCoins, IconRobotFace } from '@tabler/icons-react'
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { NavigationEntry } from '../app/navigation.ts'
import { shellRoute } from '../app/root-routes.ts'

export const operatorRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/available',
    component: lazyRouteComponent(() => import('./available.page.tsx'), 'AvailablePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/certifications',
    component: lazyRouteComponent(() => import('./certifications.page.tsx'), 'CertificationsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/schedule',
    component: lazyRouteComponent(() => import('./schedule.page.tsx'), 'SchedulePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/earnings',
    component: lazyRouteComponent(() => import('./earnings.page.tsx'), 'EarningsPage'),
  }),
] as const

const role = 'operator'

export const operatorNavigation: readonly NavigationEntry[] = [
  {
    to: '/available',
    label: 'Available robots',
    description: 'Robots that you may drive now, or plan to drive.',
    icon: IconRobotFace,
    role,
  },
  {
    to: '/certifications',
    label: 'Certifications',
    description: 'The types of robots that you are trusted with.',
    icon: IconCertificate,
    role,
  },
  {
    to: '/schedule',
    label: 'Weekly schedule',
    description: 'When you want to work, week by week.',
    icon: IconCalendarWeek,
    role,
  },
  {
    to: '/earnings',
    label: 'Earnings',
    description: 'What you have earned, and how it is paid out.',
    icon: IconCoins,
    role,
  },
]
