/**
 * Roots of the keys under which answers are kept. Everything about sessions begins with `['sessions']`, so that
 * what arrives live can mark it as old in one go; a feature appends what tells its queries apart.
 */
export const keys = {
  profile: ['profile'],
  onboarding: ['onboarding'],
  clientProfile: ['client-profile'],
  operatorProfile: ['operator-profile'],
  apiKeys: ['api-keys'],
  webhooks: ['webhooks'],
  notifications: ['notifications'],
  sessions: ['sessions'],
  robots: ['robots'],
  certifications: ['certifications'],
  datasets: ['datasets'],
  invoices: ['invoices'],
  pricing: ['pricing'],
  payouts: ['payouts'],
  stats: ['stats'],
  inbox: ['inbox'],
  audit: ['audit'],
} as const
