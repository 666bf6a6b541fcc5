export { createPayments } from './facade.ts'
export { onboardingPage } from './onboarding-page.ts'
export { paymentEndpoints } from './payment.routes.ts'
