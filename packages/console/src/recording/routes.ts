import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { IconVideo } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'

const search = z.object({ robot: z.guid().optional().catch(undefined) })

export const recordingRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/recordings',
    validateSearch: (given: Record<string, unknown>) => search.parse(given),
    component: lazyRouteComponent(() => import('./recordings.page.tsx'), 'RecordingsPage'),
  }),
] as const

export const recordingNavigation: readonly NavigationEntry[] = [
  {
    to: '/recordings',
    label: t('recording.navigation.label'),
    description: t('recording.navigation.description'),
    icon: IconVideo,
    participantsOnly: true,
    first: true,
  },
]
