/**
 * The path of the program `ripkit` for this system.
 *
 * @throws {Error} where no package for this system is installed
 */
export function program(): string;
