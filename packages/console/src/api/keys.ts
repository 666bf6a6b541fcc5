/**
 * Roots of the query keys. All session queries begin with `['sessions']`, so that one live event invalidates them
 * together. A feature appends its own parts.
 */
export const keys = {
  profile: ['profile'],
  onboarding: ['onboarding'],
  clientProfile: ['client-profile'],
  operatorProfile: ['operator-profile'],
  apiKeys: ['api-keys'],
  webhooks: ['webhooks'],
  notifications: ['notifications'],
  notificationSettings: ['notification-settings'],
  push: ['push'],
  sessions: ['sessions'],
  cameras: ['cameras'],
  exports: ['exports'],
  recordings: ['recordings'],
  robots: ['robots'],
  certifications: ['certifications'],
  datasets: ['datasets'],
  invoices: ['invoices'],
  pricing: ['pricing'],
  payouts: ['payouts'],
  stats: ['stats'],
  inbox: ['inbox'],
  audit: ['audit'],
  jobs: ['jobs'],
  users: ['users'],
} as const
