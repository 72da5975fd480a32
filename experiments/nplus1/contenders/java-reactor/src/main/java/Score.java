/** What a student has in a subject. */
record Score(String subject, int score) {}
