import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { NavigationEntry } from '../app/navigation.ts'
import { shellRoute } from '../app/root-routes.ts'
import { t } from '../texts/texts.ts'
import { IconSettings } from '../ui/icons.tsx'

export const settingsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings',
    component: lazyRouteComponent(() => import('./settings.page.tsx'), 'SettingsPage'),
  }),
] as const

export const settingsNavigation: readonly NavigationEntry[] = [
  {
    to: '/settings',
    label: t('common.settings'),
    description: t('settings.navigation.description'),
    icon: IconSettings,
  },
]
