/** Countries with a call centre for stolen cars (ISO 3166-1 alpha-2). Interface 4.17.2 CountryEnum. */
export const countries = ['CL', 'BR', 'AR'] as const;
export type Country = (typeof countries)[number];
