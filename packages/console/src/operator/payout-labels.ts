/** Labels of the payment provider's requirements, by the end of their names. */
const labels: Readonly<Record<string, string>> = {
  date_of_birth: 'Your date of birth',
  default_outbound_destination: 'Your bank account',
  external_account: 'Your bank account',
  given_name: 'Your first name',
  surname: 'Your last name',
  email: 'Your e-mail address',
  phone: 'Your phone number',
  address: 'Your address',
  id_numbers: 'Your tax or ID number',
  'verification.document': 'A photo of your identity document',
  document: 'A photo of your identity document',
  'documents.primary_verification': 'A photo of your identity document',
  tos_acceptance: "Your consent to the provider's terms",
  'terms_of_service.account': "Your consent to the provider's terms",
}

/** Returns the label of a requirement such as `identity.individual.date_of_birth`. An unknown name becomes words. */
export function requirementLabel(name: string): string {
  const parts = name.split('.')
  for (let from = 0; from < parts.length; from++) {
    const known = labels[parts.slice(from).join('.')]
    if (known) return known
  }
  const address = parts.includes('address') ? labels.address : undefined
  return address ?? sentence(parts.at(-1) ?? name)
}

const sentence = (word: string): string => {
  const text = word.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
