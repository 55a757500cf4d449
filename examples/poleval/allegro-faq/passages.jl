{"id": "f-1", "text": "Jeżeli przesyłka nie dotarła w ciągu pięciu dni roboczych, napisz do sprzedawcy i podaj numer zamówienia."}
{"id": "f-2", "text": "Zwrot pieniędzy trafia na konto, z którego zapłacono za zakupy, zwykle w ciągu trzech dni."}
{"id": "f-3", "text": "Hasło zmienisz w ustawieniach konta; nowe musi mieć co najmniej dwanaście znaków."}
{"id": "f-4", "text": "Aby odstąpić od umowy, wypełnij formularz zwrotu i odeślij towar w ciągu czternastu dni."}
{"id": "f-5", "text": "Reklamację uszkodzonego towaru złożysz, dodając zdjęcia i opis wady."}
{"id": "f-6", "text": "Fakturę pobierzesz w szczegółach zamówienia, gdy sprzedawca ją wystawi."}
{"id": "f-7", "text": "Paczkę odbierzesz z automatu, wpisując kod z wiadomości; czeka na ciebie dwie doby."}
{"id": "f-8", "text": "Za płatność w ratach odpowiada bank, który sprawdza zdolność kredytową kupującego."}
{"id": "f-9", "text": "Opinię o sprzedawcy możesz wystawić w ciągu trzydziestu dni od zakupu i raz ją zmienić."}
{"id": "f-10", "text": "Aby usunąć konto, zakończ otwarte transakcje i wyślij prośbę z zakładki Prywatność."}
