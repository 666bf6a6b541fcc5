import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IconReceipt } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'

const getParentRoute = () => shellRoute

export const billingRoutes = [
  createRoute({
    getParentRoute,
    path: '/invoices',
    component: lazyRouteComponent(() => import('./invoices.page.tsx'), 'InvoicesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/invoices/$invoiceId',
    component: lazyRouteComponent(() => import('./invoice.page.tsx'), 'InvoicePage'),
  }),
] as const

export const billingNavigation: readonly NavigationEntry[] = [
  {
    to: '/invoices',
    label: t('billing.navigation.label'),
    description: t('billing.navigation.description'),
    icon: IconReceipt,
    role: 'client',
  },
]
